/* Named draws, `let eps = rand.normal(..)`: their keys, and files in their place (compile_options.override).
 */
#include "compiler/elab.h"

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
/* In a scan the file has an axis of its iterations in front, of the outermost first. */
static struct value replaced_draw(struct elab *e, const char *key, const struct type *draw, uint32_t loop,
                                  struct span at, uint32_t unit)
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
    struct var var = {
        .kind = VAR_STATE, .key = arena_printf(e->arena, "override.%s", key), .type = t, .span = at};
    vec_push(e->g->arena, &e->g->vars, var);
    build_at(e, at);
    struct node_spec s = {.op = OP_read,
                          .phase = e->b.phase,
                          .attr = (int64_t[]){e->g->vars.n - 1},
                          .n_attr = 1,
                          .type = t,
                          .span = at,
                          .scope = e->b.scope};
    val x = graph_add(e->g, &s, e->sink);
    while (x && n--) {
        x = build_attrs(&e->b, OP_loop_in, &x, 1, (int64_t[]){inside[n]}, 1);
    }
    return tensor_value(x, unit);
}
struct value named_draw(struct elab *e, struct env *env, const char *name, struct ast *ast, struct value v)
{
    const struct phase *p = &e->g->phases.at[e->b.phase];
    if (v.kind != V_TENSOR || p->kind != PHASE_USER || !is_draw(ast) || for_effect_only(e)) {
        return v;
    }
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
    return replaced_draw(e, key, &t, graph_node(e->g, v.node)->loop, ast->span, v.unit);
}
bool check_overrides(struct elab *e)
{
    bool ok = true;
    for (uint32_t i = 0; i < e->options->n_override; i++) {
        const char *key = e->options->override[i];
        if (!graph_find_var(e->g, arena_printf(e->arena, "override.%s", key))) {
            fail(e, DIAG_U1002, NO_SPAN, "--override: the model has no named draw `%s`", key);
            help_names(e, key, e->draw_keys.name, e->draw_keys.n);
            ok = false;
        }
    }
    return ok;
}
