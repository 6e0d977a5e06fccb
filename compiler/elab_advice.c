/* Help for unknown names: the closest name of the right kind, and words that people bring along from other
 * languages and libraries. Each function adds one help line to the error emitted last, or nothing.
 */
#include <strings.h>
#include "compiler/elab_data.h"

struct word {
    const char *word, *help;
};
static const char *find_word(const struct word *table, const char *name)
{
    for (; table->word; table++) {
        if (!strcmp(table->word, name)) {
            return table->help;
        }
    }
    return NULL;
}
static const struct word names[] = {
    {"self", "a layer has no `self`: parameters, states and arguments are plain names"},
    {"this", "a layer has no `this`: parameters, states and arguments are plain names"},
    {"print", "`metric name = ..` shows a number for each epoch, `output name = ..` writes a tensor"},
    {"range", "a range is written `0..n`, as in `for (i in 0..n) {`"},
    {"True", "write `true`"},
    {"False", "write `false`"},
    {"None", "write `none`"},
    {"null", "write `none`"},
    {"torch", "operators have no prefix; layers are in `nn`, optimizers in `opt`"},
    {"tf", "operators have no prefix; layers are in `nn`, optimizers in `opt`"},
    {"keras", "operators have no prefix; layers are in `nn`, optimizers in `opt`"},
    {"jax", "operators have no prefix; layers are in `nn`, optimizers in `opt`"},
    {"np", "operators have no prefix: `exp(x)`, `sum(x)`"},
    {"numpy", "operators have no prefix: `exp(x)`, `sum(x)`"},
    {"F", "operators have no prefix: `relu(x)`; losses are in `nn`"},
    {"optim", "optimizers are in `opt`: `import opt`"},
    {"float32", "the type is called `f32`"},
    {"Float", "the type is called `f32`"},
    {"double", "the type is called `f64`"},
    {"float64", "the type is called `f64`"},
    {"float16", "the 16 bit type is `bf16`"},
    {"half", "the 16 bit type is `bf16`"},
    {"bfloat16", "the type is called `bf16`"},
    {"int32", "the type is called `i32`"},
    {"int64", "whole numbers are `i32`"},
    {"long", "whole numbers are `i32`"},
    {"uint8", "whole numbers are `i32`"},
    {"boolean", "the type is called `bool`"},
    {"string", "the type is called `str`"},
    {"Tensor", "a tensor has element type and axes, as in `f32[B, 64]`"},
    {"tensor", "a tensor has element type and axes, as in `f32[B, 64]`"},
    {"list", "a list of whole numbers is `int[]`"},
    {"lambda", "a function without a name is `fn (x) = ..`"},
    {"CrossEntropyLoss", "write `nn.cross_entropy(z, y)`, or `mean(xent(z, y))`"},
    {"crossentropy", "write `nn.cross_entropy(z, y)`, or `mean(xent(z, y))`"},
    {"cross_entropy", "write `nn.cross_entropy(z, y)`, or `mean(xent(z, y))`"},
    {"MSELoss", "write `nn.mse(y, t)`"},
    {"Sequential", "stages follow each other with `|>`: `x |> a: nn.Linear{64} |> relu |> b: nn.Linear{10}`"},
    {"Module", "a network is a `layer NAME{..}(x) { .. }`"},
    {"Dense", "the layer is called `Linear`"},
    {"Flatten", "`flatten(x, first, last)` merges axes"},
    {"optimizer", "the optimizer stands in `minimize loss = .. over net using opt.adamw{lr}`"},
    {"learning_rate", "declare it: `config learning_rate = 1e-3`"},
    {"grad", "gradients are taken by `minimize loss = .. over net using ..`, for parameters alone and once"},
    {"break",
     "a scan does all its iterations: a carry says that a row is through, `next h = select(live, new, h)`"},
    {"continue", "a scan does all its iterations: `select(c, new, h)` lets rows stay as they were"},
    {0},
};
static const struct word tensor_members[] = {
    {"shape", "`shape(x)` is the list of sizes, `shape(x)[0]` the first"},
    {"size", "`shape(x)` is the list of sizes, `shape(x)[0]` the first"},
    {"ndim", "`len(shape(x))` is the number of axes"},
    {"T", "`transpose(x)` swaps the last two axes"},
    {"t", "`transpose(x)` swaps the last two axes"},
    {"view", "`reshape(x, [..])` gives another shape"},
    {"unsqueeze", "`x[:, _]` adds an axis of size 1"},
    {"squeeze", "`x[:, 0]` drops an axis"},
    {"detach", "`stop_grad(x)` lets no gradient through"},
    {"backward", "`minimize loss = .. over net using opt.adamw{lr}` makes gradients and uses them"},
    {"item", "a `metric` shows the number"},
    {"float", "`f32(x)` makes floats"},
    {"long", "`i32(x)` makes whole numbers"},
    {"int", "`i32(x)` makes whole numbers"},
    {"to", "`f32(x)` and `i32(x)` convert; the device is an option of gmlrun"},
    {"cuda", "the device is an option of gmlrun: `--device cuda`"},
    {0},
};
static const struct word instance_members[] = {
    {"forward", "an instance is applied directly: `net(x)`"},
    {"call", "an instance is applied directly: `net(x)`"},
    {"apply", "an instance is applied directly: `net(x)`"},
    {"parameters", "`over net` takes all its parameters"},
    {"state_dict", "`save` in the run block writes the weights"},
    {"load_state_dict", "`gmlrun eval --weights FILE` reads weights"},
    {"train", "`training` is true in phases that have a `minimize`"},
    {"eval", "`training` is true in phases that have a `minimize`"},
    {"to", "the device is an option of gmlrun: `--device cuda`"},
    {"cuda", "the device is an option of gmlrun: `--device cuda`"},
    {0},
};

/* -- names in scope */

/* A name that nobody can mean where `want` stands. */
static bool is_wrong_kind(const struct slot *s, enum want want)
{
    bool layer = s->kind == SLOT_VALUE && s->v.kind == V_LAYER, module = s->v.kind == V_MODULE;
    switch (want) {
    case WANT_LAYER:
        return s->kind == SLOT_VALUE && !layer && !module && s->what != NAME_ARG && s->what != NAME_LOCAL;
    case WANT_FUNCTION:
        return s->what == NAME_DATA || s->what == NAME_PHASE || s->what == NAME_CONFIG ||
               s->what == NAME_STATE || s->what == NAME_PARAM || s->what == NAME_DIM;
    case WANT_DATA:
        return s->what != NAME_DATA;
    default:
        return s->what == NAME_DATA;
    }
}
static void push(struct elab *e, const char *name, const char ***at, uint32_t *n, uint32_t *cap)
{
    if (*n == *cap) {
        *at = vec_grow(e->arena, *at, cap, sizeof **at);
    }
    (*at)[(*n)++] = name;
}
static const char *near_name(struct elab *e, struct env *env, const char *name, enum want want)
{
    const char **at = NULL;
    uint32_t n = 0, cap = 0;
    for (struct env *s = env; s; s = s->parent) {
        for (uint32_t i = 0; i < s->slots.n; i++) {
            if (!is_wrong_kind(s->slots.at[i], want)) {
                push(e, s->slots.at[i]->name, &at, &n, &cap);
            }
        }
    }
    if (want == WANT_ANY || want == WANT_FUNCTION) {
        builtin_names(e, &at, &n, &cap);
    }
    return closest_name(name, at, n);
}
/* The module in scope that has the name, when the writer forgot to say which. */
static const char *module_with(struct env *env, const char *name)
{
    for (struct env *s = env; s; s = s->parent) {
        for (uint32_t i = 0; i < s->slots.n; i++) {
            const struct slot *m = s->slots.at[i];
            if (m->kind == SLOT_VALUE && m->v.kind == V_MODULE && m->v.module->env &&
                env_own(m->v.module->env, name)) {
                return m->name;
            }
        }
    }
    return NULL;
}

/* -- names that exist, but not here */

static struct ast *let_of(struct ast *block, const char *name)
{
    for (uint32_t i = 0; block && i < block->list.n; i++) {
        struct ast *a = block->list.at[i];
        bool found = (a->kind == AST_LET || a->kind == AST_PARAM || a->kind == AST_STATE) && a->name &&
                     !strcmp(a->name, name);
        for (uint32_t k = 0; a->kind == AST_LET && !a->name && k < a->list.n; k++) {
            found |= !strcmp(a->list.at[k]->name, name);
        }
        if (found) {
            return a;
        }
    }
    return NULL;
}
/* Declared further down in a body that is being worked through. */
static bool declared_later(struct elab *e, struct env *env, const char *name)
{
    for (; env; env = env->parent) {
        struct ast *a = let_of(env->block, name);
        const struct diag_sink *s = e->sink;
        if (a && s->list.n && s->list.at[s->list.n - 1].span.start >= a->span.start &&
            s->list.at[s->list.n - 1].span.start < a->span.end) {
            diag_help(e->sink, "`%s` has no value yet: it gets one by this declaration", name);
            return true;
        }
        if (a) {
            diag_label(e->sink, a->name_span.file ? a->name_span : a->span, "`%s` is declared only here",
                       name);
            diag_help(e->sink, "move the declaration of `%s` up, before its first use", name);
            return true;
        }
    }
    return false;
}
static bool in_other_phase(struct elab *e, const char *name)
{
    const struct ast *file = e->modules.at[0]->parsed.file;
    for (uint32_t i = 0; i < file->list.n; i++) {
        struct ast *p = file->list.at[i], *a = p->kind == AST_PHASE ? let_of(p->b, name) : NULL;
        if (a) {
            diag_label(e->sink, a->name_span.file ? a->name_span : a->span, "a `%s` of phase %s", name,
                       p->name);
            diag_help(e->sink, "values do not cross phases: compute `%s` here too, or keep it in a `state`",
                      name);
            return true;
        }
    }
    return false;
}

/* -- advice */

/* Of the data set whose member is computed. */
static bool is_member_name(struct elab *e, const char *name)
{
    const struct data *d = e->member ? &e->g->datas.at[e->member->data] : NULL;
    for (uint32_t i = 0; d && i < d->n_field; i++) {
        if (!strcmp(d->field[i].name, name)) {
            return true;
        }
    }
    return false;
}
void advise_name(struct elab *e, struct env *env, const char *name, enum want want)
{
    const char *module = module_with(env, name), *help = find_word(names, name);
    if (module) {
        diag_help(e->sink, "write `%s.%s`", module, name);
        return;
    }
    if (declared_later(e, env, name)) {
        return;
    }
    if (help) {
        diag_help(e->sink, "%s", help);
        return;
    }
    if (is_member_name(e, name)) {
        diag_help(e->sink, "members do not see each other: field(..) reads the file again");
        return;
    }
    const char *near = near_name(e, env, name, want);
    if (near && !strcasecmp(near, name)) {
        diag_help(e->sink, "did you mean `%s`?", near);
    } else if (!in_other_phase(e, name) && near) {
        diag_help(e->sink, "did you mean `%s`?", near);
    }
}
void advise_module_member(struct elab *e, const char *name, const char *const *known, uint32_t n)
{
    const char *help = find_word(names, name), *near = closest_name(name, known, n);
    bool is_operator = false;
    const char **at = NULL;
    uint32_t m = 0, cap = 0;
    builtin_names(e, &at, &m, &cap);
    for (uint32_t i = 0; i < m && !near; i++) {
        near = strcasecmp(at[i], name) ? near : at[i];
        is_operator = near != NULL;
    }
    if (is_operator) {
        diag_help(e->sink, "`%s` is an operator, without a prefix", near);
    } else if (near) {
        diag_help(e->sink, "did you mean `%s`?", near);
    } else if (help) {
        diag_help(e->sink, "%s", help);
    }
}
void advise_member(struct elab *e, struct value v, const char *name)
{
    const char *help = find_word(v.kind == V_INST ? instance_members : tensor_members, name);
    if (help) {
        diag_help(e->sink, "%s", help);
    } else if (v.kind == V_LIST) {
        diag_help(e->sink, "`[0].%s` is that of the first; a reduction, as in sum(..), runs over all", name);
    } else if (v.kind == V_DATA) {
        diag_help(e->sink,
                  e->member ? "a member reads the file, as others do: field(..)"
                            : "a phase binds rows of it, `on %s{batch = 32} as d`, and reads `d.%s`",
                  e->g->datas.at[v.index].name, name);
    } else if (v.kind == V_LAYER) {
        diag_help(e->sink, "`let x = %s{..}` makes an instance; then `x.%s`", v.layer->name, name);
    } else if (v.kind != V_INST && builtin_value(e, name, NO_SPAN).kind == V_BUILTIN) {
        diag_help(e->sink, "tensors have no methods: write `%s(x)`", name);
    }
}
const char *advice_for_import(const char *name)
{
    static const char *const elsewhere[] = {"torch", "numpy", "np",   "tensorflow", "tf",
                                            "keras", "jax",   "flax", "sys",        "os"};
    for (size_t i = 0; i < sizeof elsewhere / sizeof *elsewhere; i++) {
        size_t n = strlen(elsewhere[i]);
        if (!strncmp(name, elsewhere[i], n) && (!name[n] || name[n] == '.' || name[n] == '/')) {
            return "gml imports gml files only; layers are in `nn`, optimizers in `opt`";
        }
    }
    return NULL;
}
