/* Scans over arrays of instances. In the body the first instance stands for the one at hand. Its variables
 * are parts of stacks (elab_tick.c); for that all instances must have theirs, which they get where the text
 * applies the first: before, each is applied to the same arguments, in a tick whose effects are dropped. What
 * these applications compute is dead, and the result is that of the text written out for each instance.
 */
#include "compiler/elab.h"

static bool one_layer(struct elab *e, struct value list, struct span at)
{
    const struct layer *first = list.list->at[0].kind == V_INST ? list.list->at[0].inst->layer : NULL;
    for (uint32_t i = 0; i < list.list->n; i++) {
        struct value v = list.list->at[i];
        if (!first || v.kind != V_INST || v.inst->layer != first) {
            fail(e, DIAG_E2063, at, "a scan walks instances of one layer, found %s and %s",
                 value_text(e, list.list->at[0]), value_text(e, v));
            diag_help(e->sink, "`for (x in list) { .. }` writes the text out for each of them");
            return false;
        }
    }
    return true;
}
bool walked_elsewhere(struct elab *e, struct value v, const struct slot *s, struct span at)
{
    bool inside = false;
    for (const struct tick *t = e->tick; v.kind == V_INST && t && !t->dry && !inside; t = t->up) {
        inside = s && s->tick == t->number;
        for (uint32_t i = 0; i < t->rolled.n && !inside; i++) {
            if (t->rolled.at[i]->at[0] == v.inst) {
                fail(e, DIAG_E1011, at, "%s in the body of a scan that walks it", v.inst->path);
                diag_label(e->sink, t->span, "the scan");
                diag_help(e->sink,
                          "in the body the name of the input stands for the instance at hand, and what "
                          "another one gives is computed outside");
                return true;
            }
        }
    }
    return false;
}
struct value roll_instances(struct elab *e, struct tick *t, struct value list, struct span at)
{
    struct rolled *r = arena_new_of(e->arena, struct rolled);
    if (!one_layer(e, list, at) || walked_elsewhere(e, list.list->at[0], NULL, at)) {
        return poison();
    }
    *r = (struct rolled){arena_array(e->arena, struct inst *, list.list->n), list.list->n};
    for (uint32_t i = 0; i < r->n; i++) {
        r->at[i] = list.list->at[i].inst;
        if (!instance_ready(e, r->at[i])) {
            return poison();
        }
        complete_frozen(e, r->at[i]);
    }
    vec_push(e->arena, &t->rolled, r);
    return list.list->at[0];
}

/* -- variables */

struct rolled *rolled_variable(struct elab *e, const struct tick *t, uint32_t var)
{
    for (uint32_t i = 0; i < t->rolled.n; i++) {
        if (path_below(e->g->vars.at[var].key, t->rolled.at[i]->at[0]->path)) {
            return t->rolled.at[i];
        }
    }
    return NULL;
}
uint32_t rolled_member(struct elab *e, const struct rolled *r, uint32_t var, uint32_t k, struct span at)
{
    const struct var *first = &e->g->vars.at[var];
    const char *rest = first->key + strlen(r->at[0]->path);
    uint32_t other = find_variable(e, arena_printf(e->arena, "%s%s", r->at[k]->path, rest));
    if (!other || !type_equal(&first->type, &e->g->vars.at[other].type)) {
        fail(e, DIAG_E2101, at, "%s is %s, %s%s is %s: the instances of a scan are alike", first->key,
             type_text(e->g, &first->type), r->at[k]->path, rest,
             other ? type_text(e->g, &e->g->vars.at[other].type) : "not there");
        diag_help(e->sink, "`for (x in list) { .. }` writes the text out for each instance");
        return 0;
    }
    return other;
}

/* -- applications */

bool for_effect_only(const struct elab *e)
{
    const struct tick *t = e->tick;
    while (t && !t->dry) {
        t = t->up;
    }
    return t;
}
/* The array whose instance at hand owns `i`, where the application that begins is not part of another one of
 * that instance, nor made for effect only by the scan. */
static struct rolled *entered(struct elab *e, const struct inst *i)
{
    struct rolled *r = NULL;
    for (const struct tick *t = e->tick; t && !t->dry && !r; t = t->up) {
        for (uint32_t k = 0; k < t->rolled.n && !r; k++) {
            r = path_below(i->path, t->rolled.at[k]->at[0]->path) ? t->rolled.at[k] : NULL;
        }
    }
    for (const struct frame *f = e->frame; f && r; f = f->up) {
        if (f->inst && f->inst != e->root && path_below(f->inst->path, r->at[0]->path)) {
            return NULL;
        }
    }
    return r;
}
/* What corresponds in instance k to a part of the first one. */
static struct value part_of_member(struct elab *e, const struct rolled *r, const struct inst *part,
                                   uint32_t k, struct span at)
{
    struct value v = {.kind = V_INST, .inst = r->at[k]};
    const char *rest = part->path + strlen(r->at[0]->path);
    while (*rest == '.' && v.kind != V_POISON) {
        const char *end = strchr(rest + 1, '.');
        size_t n = end ? (size_t)(end - rest - 1) : strlen(rest + 1);
        v = member(e, v, intern_n(e->names, rest + 1, n), at, at);
        rest += n + 1;
    }
    return v;
}
bool apply_members(struct elab *e, struct fn *f, struct args *a, struct env *env, struct ast *at)
{
    struct rolled *r = f->inst ? entered(e, f->inst) : NULL;
    struct tick dry = {.up = e->tick, .number = UINT32_MAX, .loop = e->tick->loop, .dry = true},
                *tick = e->tick;
    uint32_t errors = e->sink->n_errors;
    e->tick = r ? &dry : tick;
    for (uint32_t k = 0; r && k < r->n && e->sink->n_errors == errors; k++) {
        struct value v = part_of_member(e, r, f->inst, k, at->span);
        v = f->name && v.kind == V_INST ? instance_member(e, v.inst, f->name, at->span) : v;
        call_value(e, v, a, env, at);
    }
    e->tick = tick;
    e->version += r != NULL;
    return e->sink->n_errors == errors;
}
