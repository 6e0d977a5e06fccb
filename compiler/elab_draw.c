/* Draws: the node of one, of each instance its own in a scan over an array of instances; the keys of named
 * draws, `let eps = rand.normal(..)`, and files in their place (compile_options.override).
 */
#include "compiler/elab.h"

/* -- nodes */

static val draw_one(struct elab *e, const struct draw *d, const char *path)
{
    val with[2] = {d->n_in ? d->in[0] : 0}, iteration = tick_iteration(e);
    with[d->n_in] = iteration;
    struct node_spec s = {.op = d->op,
                          .phase = e->b.phase,
                          .in = with,
                          .n_in = d->n_in + (iteration != 0),
                          .type = d->type,
                          .span = e->b.span,
                          .scope = e->b.scope,
                          .attr = (int64_t[]){(int64_t)draw_id(e, path), e->b.phase},
                          .n_attr = 2};
    return graph_add(e->g, &s, e->sink);
}
/* The array whose instance at hand has that path, and the scan that walks it, from t outwards; else NULL. */
static const struct rolled *array_at_hand(struct elab *e, struct tick *t, const char *path,
                                          struct tick **walk)
{
    for (; t && t != e->still; t = t->up) {
        for (uint32_t i = 0; i < t->rolled.n; i++) {
            if (path_below(path, t->rolled.at[i]->at[0]->path)) {
                *walk = t;
                return t->rolled.at[i];
            }
        }
    }
    return NULL;
}
/* The part of instance i, for the i of the scan, of what is made in front of it. */
static val part_at_hand(struct elab *e, const val *each, uint32_t n, const struct tick *walk)
{
    val *unit = arena_array(e->arena, val, n);
    for (uint32_t i = 0; i < n; i++) {
        unit[i] = build_unit(&e->b, each[i], 0);
    }
    val all = build_concat(&e->b, unit, n, 0);
    return build_attrs(&e->b, OP_loop_in, &all, 1, (int64_t[]){walk->loop}, 1);
}
/* Those of all instances are made where one is needed. */
static val choice_at_hand(struct elab *e, const val *each, uint32_t n, const struct tick *walk)
{
    val at = build_attrs(&e->b, OP_loop_index, NULL, 0, (int64_t[]){walk->loop}, 1), v = each[n - 1];
    for (uint32_t i = n - 1; i-- > 0 && v;) {
        val is = build_2(&e->b, OP_eq, at, build_const(&e->b, DT_I32, i));
        v = build_3(&e->b, OP_where, is, each[i], v);
    }
    return v;
}
/* Every instance has the draws that it has where the text is written out for each of them: in front of the
 * scan, where they need nothing that it makes and its body draws once. `t`: from there outwards arrays are
 * looked for. */
static val draw_at(struct elab *e, const struct draw *d, const char *path, struct tick *t)
{
    struct tick *walk, *more, *in = e->tick;
    const struct rolled *array = array_at_hand(e, t, path, &walk);
    if (!array) {
        return draw_one(e, d, path);
    }
    const char *rest = path + strlen(array->at[0]->path);
    bool before = in == walk && d->type.rank < LIMIT_RANK && !array_at_hand(e, walk->up, path, &more) &&
                  !(d->n_in && graph_node(e->g, d->in[0])->loop == walk->loop);
    val *each = arena_array(e->arena, val, array->n);
    e->tick = before ? in->up : in;
    walk->uncounted = true;
    for (uint32_t i = 0; i < array->n; i++) {
        each[i] = draw_at(e, d, arena_printf(e->arena, "%s%s", array->at[i]->path, rest), walk->up);
        if (!each[i]) {
            break;
        }
    }
    walk->uncounted = false;
    e->tick = in;
    return !each[array->n - 1] ? 0
           : before            ? part_at_hand(e, each, array->n, walk)
                               : choice_at_hand(e, each, array->n, walk);
}
val make_draw(struct elab *e, const struct draw *d)
{
    bool first = e->b.phase == 0 || for_effect_only(e); /* a value of one instance */
    return draw_at(e, d, draw_path(e), first ? NULL : e->tick);
}

/* -- names */

static bool is_draw(const struct ast *a)
{
    while (a->kind == AST_PAREN) {
        a = a->a;
    }
    const struct ast *f = a->kind == AST_CALL ? a->a : NULL;
    return f && f->kind == AST_DOT && f->a->kind == AST_ID && !strcmp(f->a->name, "rand");
}
/* "train.eps", "train.net.drop.keep"; "#1" behind it the second time. */
static const char *draw_key(struct elab *e, struct env *env, const char *name)
{
    const char *phase = e->g->phases.at[e->b.phase].name, *path = env->prefix ? env->prefix : "";
    size_t n = strlen(phase);
    if (env->inst && env->inst != e->root) {
        path = join_path(e, env->inst->path, path);
    }
    bool has_phase = !strncmp(path, phase, n) && (!path[n] || path[n] == '.');
    const char *key = join_path(e, has_phase ? path : join_path(e, phase, path), name);
    int64_t i = names_find(&e->draw_keys, key);
    if (i < 0) {
        i = e->named_draws.n;
        vec_push(e->arena, &e->named_draws, 0u);
        names_push(e, &e->draw_keys, key);
    }
    uint32_t k = e->named_draws.at[i]++;
    return k ? arena_printf(e->arena, "%s#%u", key, k) : key;
}
static bool is_overridden(const struct elab *e, const char *key)
{
    bool is = false;
    for (uint32_t i = 0; i < e->options->n_override && !is; i++) {
        is = !strcmp(e->options->override[i], key);
    }
    return is;
}
static val read_file_of(struct elab *e, uint32_t var, struct span at)
{
    struct node_spec s = {.op = OP_read,
                          .phase = e->b.phase,
                          .attr = (int64_t[]){var},
                          .n_attr = 1,
                          .type = e->g->vars.at[var].type,
                          .span = at,
                          .scope = e->b.scope};
    build_at(e, at);
    return graph_add(e->g, &s, e->sink);
}
/* In a scan the file has an axis of its iterations in front, of the outermost first. *var: what is read, 0 =
 * not there yet. */
static struct value replaced_draw(struct elab *e, const char *key, const struct type *draw, uint32_t loop,
                                  struct span at, uint32_t unit, uint32_t *var)
{
    uint32_t inside[LIMIT_RANK], n = 0;
    for (; loop && n < LIMIT_RANK; loop = e->g->loops.at[loop].parent) {
        inside[n++] = loop;
    }
    if (loop || draw->rank + (int)n > LIMIT_RANK) {
        return fail(e, DIAG_E0110, at,
                    "--override: `%s` has more than %d axes with those of the scans around it", key,
                    (int)LIMIT_RANK);
    }
    struct type t = {.dtype = draw->dtype, .rank = draw->rank + (int)n};
    for (int i = 0; i < t.rank; i++) {
        t.dim[i] = i < (int)n ? e->g->loops.at[inside[(int)n - 1 - i]].count : draw->dim[i - (int)n];
    }
    if (!*var) {
        struct var made = {
            .kind = VAR_STATE, .key = arena_printf(e->arena, "override.%s", key), .type = t, .span = at};
        vec_push(e->g->arena, &e->g->vars, made);
        *var = e->g->vars.n - 1;
    }
    val x = read_file_of(e, *var, at);
    while (x && n--) {
        x = build_attrs(&e->b, OP_loop_in, &x, 1, (int64_t[]){inside[n]}, 1);
    }
    return tensor_value(x, unit);
}
static struct value name_draw(struct elab *e, struct env *env, const char *name, struct ast *ast,
                              struct value v, uint32_t *var)
{
    const struct phase *p = &e->g->phases.at[e->b.phase];
    const char *key = draw_key(e, env, name);
    if (!is_overridden(e, key)) {
        return v;
    }
    struct type t = node_type(e->g, v.node);
    for (int i = 0; i < t.rank && p->b != p->batch; i++) {
        if (t.dim[i] == p->b) {
            fail(e, DIAG_E2023, ast->span,
                 "--override: `%s` is %s, and the last launch may have fewer rows than a file has", key,
                 type_text(e->g, &t));
            return poison();
        }
    }
    return replaced_draw(e, key, &t, graph_node(e->g, v.node)->loop, ast->span, v.unit, var);
}
/* What is evaluated again for a value of the file is no further draw: it has the file that it had, if any. */
struct value named_draw(struct elab *e, struct env *env, const char *name, struct ast *ast, struct value v)
{
    struct drawn *d = e->drawn;
    uint32_t var = 0;
    if (v.kind != V_TENSOR || e->g->phases.at[e->b.phase].kind != PHASE_USER || !is_draw(ast) ||
        for_effect_only(e)) {
        return v;
    }
    if (d && e->renamed < d->var.n) {
        var = d->var.at[e->renamed++];
        const struct node *n = graph_node(e->g, v.node);
        struct type t = node_type(e->g, v.node);
        return var ? replaced_draw(e, e->g->vars.at[var].key, &t, n->loop, ast->span, v.unit, &var) : v;
    }
    v = name_draw(e, env, name, ast, v, &var);
    if (d) {
        vec_push(e->arena, &d->var, var);
        e->renamed++;
    }
    return v;
}
static void add_file_names(struct elab *e)
{
    for (uint32_t v = 1; v < e->g->vars.n; v++) {
        if (e->g->vars.at[v].file) {
            names_push(e, &e->draw_keys, e->g->vars.at[v].key + strlen("file."));
        }
    }
}
bool check_overrides(struct elab *e)
{
    bool ok = true;
    for (uint32_t i = 0; i < e->options->n_override; i++) {
        const char *key = e->options->override[i];
        if (!find_variable(e, arena_printf(e->arena, "override.%s", key)) &&
            !find_variable(e, arena_printf(e->arena, "file.%s", key))) {
            fail(e, DIAG_U1002, NO_SPAN, "--override: the model has no named draw and no file(..) `%s`", key);
            add_file_names(e);
            help_names(e, key, e->draw_keys.name, e->draw_keys.n);
            ok = false;
        }
    }
    return ok;
}
