/* `let w: T = file("w.npz", "w")`: an array of a file as a constant of the graph. It is a state without
 * `next` that is filled when the model is loaded, before initial values are made; the declaration says its
 * type, since the file is not read while compiling.
 */
#include "compiler/elab.h"

struct value eval_declared(struct elab *e, struct ast *a, struct env *env, const char *label,
                           const struct declared *d)
{
    const struct declared *outer = e->declared;
    struct declared own = *d;
    for (own.text = a; own.text->kind == AST_PAREN; own.text = own.text->a) {
    }
    e->declared = &own;
    struct value v = eval_named(e, a, env, label);
    e->declared = outer;
    return v;
}

/* "net.w1"; of what a phase declares "train.w1". */
static const char *file_key(struct elab *e, struct env *env, const char *name)
{
    const char *path = env->prefix ? env->prefix : "";
    if (env->inst && env->inst != e->root) {
        path = join_path(e, env->inst->path, path);
    }
    const struct phase *p = &e->g->phases.at[e->b.phase];
    bool own = env->kind == ENV_BODY && env->inst == e->root && p->kind == PHASE_USER;
    return join_path(e, own ? join_path(e, p->name, path) : path, name);
}
static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && !strcmp(a, b));
}
/* The variable for that array: one for each name, however often the text around it is expanded. */
static uint32_t file_var(struct elab *e, const struct var *want, const char *key, const struct declared *d)
{
    for (uint32_t k = 0;; k++) {
        const char *full =
            k ? arena_printf(e->arena, "file.%s#%u", key, k) : arena_printf(e->arena, "file.%s", key);
        uint32_t i = find_variable(e, full);
        const struct var *v = i ? &e->g->vars.at[i] : NULL;
        if (v && type_equal(&v->type, &want->type) && same_text(v->file, want->file) &&
            same_text(v->array, want->array)) {
            return i;
        }
        if (!v) {
            struct var fresh = *want;
            struct var_info info = {.owner = "", .tags = "", .type = d->type, .env = d->env};
            fresh.key = full;
            return add_variable(e, &fresh, &info);
        }
    }
}
static struct value run_file(struct elab *e, struct bcall *c)
{
    const struct declared *d = e->declared;
    const char *path, *array = NULL;
    if (!want_string(e, c->arg[0], c->span[0], "the path", &path) ||
        (is_given(c->arg[1]) && !want_string(e, c->arg[1], c->span[1], "the name of the array", &array))) {
        return poison();
    }
    const struct ttype *t = d && d->text == c->at ? d->t : NULL;
    if (d && d->text == c->at && d->type) {
        t = eval_type(e, d->type, env_new(e, d->env, ENV_BLOCK));
        if (!t) {
            return poison();
        }
    }
    if (!t || t->kind != T_TENSOR) {
        struct value v =
            fail(e, DIAG_E2023, c->at->span,
                 t ? "file(..) reads one array, and this is %s" : "file(..) stands behind a name with a type",
                 t ? ttype_text(e, t) : "");
        diag_help(e->sink, "`let w: f32[22, 15] = file(\"wiring.npz\", \"w\")`");
        return v;
    }
    if (!*path) {
        return fail(e, DIAG_E2023, c->span[0], "the path of a file is not empty");
    }
    struct var want = {.kind = VAR_STATE, .type = t->t, .file = path, .array = array, .span = c->at->span};
    uint32_t var = file_var(e, &want, file_key(e, d->env, d->label ? d->label : "file"), d);
    build_at(e, c->at->span);
    struct node_spec s = {.op = OP_read,
                          .phase = e->b.phase,
                          .attr = (int64_t[]){var},
                          .n_attr = 1,
                          .type = want.type,
                          .span = c->at->span,
                          .scope = e->b.scope};
    return tensor_value(graph_add(e->g, &s, e->sink), t->unit);
}

const struct builtin file_builtins[] = {
    {"file", run_file, "path array?", OP_read},
    {0},
};
