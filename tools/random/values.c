/* What variables hold: a function of the key and the element, so that a graph in text form is complete.
 *
 * A key is a kind, a number and a range: "f3[-2,2]" floats between, "i4[-1,5]" whole numbers, both ends
 * included, "b5[0,1]" answers, "a6[-3,4]" floats or whole numbers that ascend along the last axis.
 */
#include <math.h>
#include <stdio.h>
#include "runtime/base/philox.h"
#include "tools/random/random.h"

struct filling {
    char kind;
    double lo, hi;
    uint64_t seed;
};
static bool filling_of(const char *key, struct filling *s)
{
    const char *range = strchr(key, '[');
    s->kind = key[0];
    s->seed = 1469598103934665603u;
    for (const char *c = key; *c; c++) {
        s->seed = (s->seed ^ (uint8_t)*c) * 1099511628211u;
    }
    return range && strchr("fiba", key[0]) && sscanf(range, "[%lf,%lf]", &s->lo, &s->hi) == 2;
}
static double draw(const struct filling *s, int64_t i, int64_t row)
{
    double u = (double)(mix64(s->seed + (uint64_t)i) >> 40) * 0x1p-24;
    int64_t place = row > 0 ? i % row : 0;
    switch (s->kind) {
    case 'i':
        return s->lo + floor(u * (s->hi - s->lo + 1));
    case 'b':
        return u < 0.5;
    case 'a':
        return (double)(float)(s->lo +
                               (s->hi - s->lo) * ((double)place + 0.9 * u) / (double)(row > 0 ? row : 1));
    default:
        return (double)(float)(s->lo + (s->hi - s->lo) * u);
    }
}
static void store(void *at, enum dtype t, int64_t i, double x)
{
    if (t == DT_F32) {
        ((float *)at)[i] = (float)x;
    } else if (t == DT_F64) {
        ((double *)at)[i] = x;
    } else if (t == DT_I32) {
        ((int32_t *)at)[i] = (int32_t)floor(x);
    } else {
        ((uint8_t *)at)[i] = x != 0;
    }
}
static int64_t elements(const struct plan *p, uint32_t var)
{
    return operand_count(&p->var[var].view);
}
bool random_fill(const struct plan *p, uint32_t var, char *image)
{
    const struct var *v = &p->graph->vars.at[var];
    const struct operand *view = &p->var[var].view;
    struct filling s;
    if (!filling_of(v->key, &s)) {
        return false;
    }
    char *at = image + p->var[var].offset;
    int64_t row = view->rank ? view->dim[view->rank - 1] : 1;
    const struct tree *t = v->kind == VAR_STATE && v->tree ? &p->graph->trees.at[v->tree - 1] : NULL;
    for (uint32_t l = 0; t && l < t->n_leaf; l++) { /* a block: leaf by leaf, the padding stays zero */
        int64_t first = (int64_t)p->leaf_start[v->tree - 1][l];
        for (int64_t i = 0; i < elements(p, t->leaf[l]); i++) {
            store(at, v->type.dtype, first + i, draw(&s, first + i, row));
        }
    }
    for (int64_t i = 0; !t && i < elements(p, var); i++) {
        store(at, v->type.dtype, i, draw(&s, i, row));
    }
    return true;
}
