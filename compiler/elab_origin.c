/* Where the size of an axis comes from, for shape errors. From the value that does not fit, the axis is
 * followed back through the nodes that only pass it on, to the storage that was read; from there to the text
 * of its type, and through names, arguments and loops to what was written: a number, a config, the type of a
 * data member.
 *
 * Nothing here reports an error; where the trail ends, the last place is the answer.
 */
#include "compiler/elab.h"

enum { STEPS = 1000 }; /* a trail through a deep network is cut; its end is then a place on the way */

struct origin {
    struct span at; /* no file: unknown */
    const char *text;
};
static struct origin here(struct elab *e, struct span at, const char *text, const char *name)
{
    return (struct origin){at, name ? arena_printf(e->arena, "%s `%s`", text, name) : text};
}

/* -- text: what an expression for a size comes from */

static struct origin node_origin(struct elab *e, val v, int axis, int steps);

static struct origin config_origin(struct elab *e, struct slot *s)
{
    struct span at = s->span;
    return s->ast && s->ast->span.file ? here(e, s->ast->span, "the value of config", s->name)
                                       : here(e, at, "config", s->name);
}
/* Element k of a list, where it is written down. */
static struct origin element_origin(struct elab *e, struct ast *list, struct env *env, uint32_t k,
                                    const char *name)
{
    bool closed;
    for (int i = 0; i < STEPS; i++) {
        if (list->kind == AST_LIST && k < list->list.n) {
            return here(e, list->list.at[k]->span, "this element becomes", name);
        }
        struct slot *s = list->kind == AST_ID ? env_find(env, list->name, &closed) : NULL;
        if (!s || !s->ast) {
            break;
        }
        list = s->ast;
        env = s->env ? s->env : env;
    }
    return here(e, list->span, "an element of this list becomes", name);
}
static struct origin text_origin(struct elab *e, struct ast *a, struct env *env, int steps);
static struct origin slot_origin(struct elab *e, struct slot *s, int steps)
{
    if (s->what == NAME_CONFIG) {
        return config_origin(e, s);
    }
    if (s->what == NAME_DIM && s->from) {
        struct origin o = node_origin(e, s->from, s->axis, steps - 1);
        if (o.at.file) {
            return o;
        }
    }
    if (s->what == NAME_ARG && s->ast && s->env && s->part >= 0) {
        return element_origin(e, s->ast, s->env, (uint32_t)s->part, s->name);
    }
    if (s->ast && s->env) {
        return text_origin(e, s->ast, s->env, steps - 1);
    }
    return here(e, s->span, "the value of", s->name);
}
static struct origin text_origin(struct elab *e, struct ast *a, struct env *env, int steps)
{
    bool closed;
    struct slot *s = a->kind == AST_ID && steps > 0 ? env_find(env, a->name, &closed) : NULL;
    if (s) {
        return slot_origin(e, s, steps);
    }
    if (a->kind == AST_NUM) {
        return here(e, a->span, "written here", NULL);
    }
    return here(e, a->span, "computed here", NULL);
}

/* -- storage */

/* The written dimension of an axis, when the type is one tensor without `..`. */
static struct ast *axis_text(struct ast *type, int axis)
{
    if (!type || type->kind != AST_TYPE_ARRAY || type->a->kind != AST_TYPE_NAME ||
        (uint32_t)axis >= type->list.n) {
        return NULL;
    }
    for (uint32_t i = 0; i < type->list.n; i++) {
        if (type->list.at[i]->kind == AST_REST) {
            return NULL;
        }
    }
    return type->list.at[axis];
}
/* Axis 0 of a data set is its rows, axis k + 1 is axis k of what the member declares. */
static struct origin data_origin(struct elab *e, const struct var *v, int axis)
{
    const struct ast *file = e->modules.at[0]->parsed.file;
    struct span at = v->span;
    for (uint32_t i = 0; i < file->list.n; i++) {
        for (uint32_t k = 0; file->list.at[i]->kind == AST_DATA && k < file->list.at[i]->list.n; k++) {
            struct ast *m = file->list.at[i]->list.at[k], *d = axis ? axis_text(m->type, axis - 1) : NULL;
            if (d && m->span.start == at.start && m->span.file == at.file) {
                return here(e, d->span, "declared here for", v->key);
            }
        }
    }
    return here(e, at, axis ? "declared here for" : "the rows of", v->key);
}
static struct origin var_origin(struct elab *e, uint32_t var, int axis, int steps)
{
    const struct var *v = &e->g->vars.at[var];
    if (v->kind == VAR_DATA) {
        return data_origin(e, v, axis);
    }
    const struct var_info *info = var < e->vars.n ? &e->vars.at[var] : NULL;
    struct ast *d = info && info->env ? axis_text(info->type, axis) : NULL;
    return d ? text_origin(e, d, info->env, steps - 1) : here(e, v->span, "declared here for", v->key);
}

/* -- nodes that pass an axis on */

struct trail {
    val v;
    int axis;
};
static bool is_unit(struct elab *e, dim d)
{
    int64_t c;
    return dim_is_const(&e->g->dims, d, &c) && c == 1;
}
/* An axis of a reshape that all axes on one side of it accompany unchanged. */
static int reshaped_axis(const struct type *from, const struct type *to, int axis)
{
    int left = 0, right = 0;
    while (left <= axis && left < from->rank && from->dim[left] == to->dim[left]) {
        left++;
    }
    if (left > axis) {
        return axis;
    }
    while (right < to->rank - axis && right < from->rank &&
           from->dim[from->rank - 1 - right] == to->dim[to->rank - 1 - right]) {
        right++;
    }
    return right >= to->rank - axis ? axis - to->rank + from->rank : -1;
}
static int reduced_axis(const struct node *n, const int64_t *attr, int axis)
{
    for (uint32_t i = 0; i < n->n_attr; i++) {
        axis += attr[i] <= axis;
    }
    return axis;
}
/* The operand of an elementwise operation that is not merely repeated along the axis. */
static val wide_input(struct elab *e, const struct node *n, int axis)
{
    const uint32_t *in = node_inputs(e->g, n);
    for (uint32_t i = 0; i < n->n_in; i++) {
        const struct node *x = graph_node(e->g, in[i]);
        if (x->op != OP_expand ||
            !is_unit(e, node_shape(e->g, graph_node(e->g, node_inputs(e->g, x)[0]))[axis])) {
            return in[i];
        }
    }
    return 0;
}
/* Of a loop's result, in its body; the first axis of a yield is the length of the loop. */
static struct trail loop_result(struct elab *e, const struct node *n, int axis)
{
    const struct node *end = graph_node(e->g, node_inputs(e->g, n)[0]);
    uint32_t k = (uint32_t)node_attrs(e->g, n)[0];
    if (n->op == OP_loop_last) {
        return (struct trail){loop_carry(e->g, end, k), axis};
    }
    return (struct trail){axis ? loop_yield(e->g, end, k) : 0, axis - 1};
}
/* The axis of an input that `t` comes from unchanged; false where the trail ends. */
static bool step_back(struct elab *e, struct trail *t)
{
    const struct node *n = graph_node(e->g, t->v);
    const uint32_t *in = node_inputs(e->g, n);
    dim d = node_shape(e->g, n)[t->axis];
    struct trail to = {n->n_in ? in[0] : 0, t->axis};
    enum op_kind kind = op_table[n->op].kind;
    if (n->op == OP_expand && is_unit(e, d)) {
        return false; /* the unit axis of a number that is repeated along the others */
    }
    if (kind == OPK_ELEM) {
        to.v = wide_input(e, n, t->axis);
    } else if (kind == OPK_REDUCE) {
        to.axis = reduced_axis(n, node_attrs(e->g, n), t->axis);
    } else if (n->op == OP_permute) {
        to.axis = (int)node_attrs(e->g, n)[t->axis];
    } else if (n->op == OP_reshape) {
        struct type from = node_type(e->g, to.v), shape = node_type(e->g, t->v);
        to.axis = reshaped_axis(&from, &shape, t->axis);
    } else if (n->op == OP_matmul) {
        to.v = t->axis == n->rank - 1 ? in[1] : in[0];
    } else if (n->op == OP_gather) {
        int k = graph_node(e->g, in[1])->rank;
        to = t->axis < k ? (struct trail){in[1], t->axis} : (struct trail){in[0], t->axis - k + 1};
    } else if (n->op == OP_loop_in) {
        to.axis++;
    } else if (n->op == OP_loop_last || n->op == OP_loop_out) {
        to = loop_result(e, n, t->axis);
    }
    if (!to.v || to.axis < 0 || to.axis >= graph_node(e->g, to.v)->rank ||
        node_shape(e->g, graph_node(e->g, to.v))[to.axis] != d) {
        return false;
    }
    *t = to;
    return true;
}
static struct origin node_origin(struct elab *e, val v, int axis, int steps)
{
    struct trail t = {v, axis};
    while (steps-- > 0 && step_back(e, &t)) {
    }
    const struct node *n = graph_node(e->g, t.v);
    if (n->op == OP_read) {
        return var_origin(e, (uint32_t)node_attrs(e->g, n)[0], t.axis, steps);
    }
    if (n->op == OP_rows) {
        return here(e, n->span, "the rows of a launch", NULL);
    }
    return here(e, n->span, "made here", NULL);
}

/* -- labels */

/* Nothing is learned from a place that the message shows already. */
static bool is_shown(struct elab *e, struct span at)
{
    const struct diag_sink *s = e->sink;
    if (!s->list.n || s->dropped) {
        return true;
    }
    const struct diag *d = &s->list.at[s->list.n - 1];
    bool shown = d->span.file == at.file && d->span.start == at.start;
    for (uint32_t i = 0; i < d->labels.n; i++) {
        shown |= d->labels.at[i].span.file == at.file && d->labels.at[i].span.start == at.start;
    }
    return shown;
}
void label_axis(struct elab *e, struct value v, int axis)
{
    if (v.kind != V_TENSOR || axis < 0 || axis >= tensor_type(e, v).rank) {
        return;
    }
    struct origin o = node_origin(e, v.node, axis, STEPS);
    if (o.at.file && !is_shown(e, o.at)) {
        diag_label(e->sink, o.at, "%s: %s", dim_text(e, tensor_type(e, v).dim[axis]), o.text);
    }
}
void label_size(struct elab *e, struct ast *written, struct env *env, dim d)
{
    struct origin o =
        written->kind == AST_NUM ? (struct origin){NO_SPAN, ""} : text_origin(e, written, env, STEPS);
    if (o.at.file && !is_shown(e, o.at)) {
        diag_label(e->sink, o.at, "%s: %s", dim_text(e, d), o.text);
    }
}
static bool has_dim(struct elab *e, struct value v, dim d)
{
    struct type t = v.kind == V_TENSOR ? tensor_type(e, v) : (struct type){0};
    for (int i = 0; i < t.rank; i++) {
        if (t.dim[i] == d) {
            return true;
        }
    }
    return false;
}
static bool is_about_shapes(const struct elab *e)
{
    static const enum diag_code about[] = {DIAG_E2001, DIAG_E2004, DIAG_E2006, DIAG_E2007};
    bool some = false;
    for (size_t i = 0; i < sizeof about / sizeof *about && e->sink->list.n; i++) {
        some |= e->sink->list.at[e->sink->list.n - 1].code == about[i];
    }
    return some;
}
void label_odd_axes(struct elab *e, const struct value *in, uint32_t n)
{
    n = is_about_shapes(e) ? n : 0;
    for (uint32_t i = 0; i < n; i++) {
        struct type t = in[i].kind == V_TENSOR ? tensor_type(e, in[i]) : (struct type){0};
        for (int axis = 0; axis < t.rank; axis++) {
            bool shared = false;
            for (uint32_t k = 0; k < n; k++) {
                shared |= k != i && has_dim(e, in[k], t.dim[axis]);
            }
            if (!shared) {
                label_axis(e, in[i], axis);
            }
        }
    }
}
