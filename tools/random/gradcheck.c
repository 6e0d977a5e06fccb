/* Gradients of whole graphs against central differences in f64. */
#include <math.h>
#include <stdio.h>
#include "runtime/base/philox.h"
#include "tools/random/random.h"

enum { ELEMENTS = 24 }; /* compared per loss */

struct evaluation {
    struct plan *p;
    uint32_t variant, output; /* output: of the loss; its gradient follows */
    char *image, *memory;
};
static double loss_of(const struct evaluation *e)
{
    memcpy(e->memory, e->image, e->p->persistent);
    double loss = (double)NAN;
    if (cpu_run_variant(e->memory, e->p, e->variant, 1) == ST_OK) {
        memcpy(&loss, e->memory + e->p->variant[e->variant].output[e->output].offset, sizeof loss);
    }
    return loss;
}
static double loss_at(const struct evaluation *e, double *x, double value)
{
    double old = *x;
    *x = value;
    double loss = loss_of(e);
    *x = old;
    return loss;
}
enum answer { AGREES, DIFFERS, KINK };
/* Ever smaller steps until the quotient agrees; where none does, two one-sided quotients that disagree show a
 * kink. */
static enum answer compare(const struct evaluation *e, double *x, double got, double *quotient)
{
    double at = loss_of(e), allowed = 1e-5 + 1e-3 * fabs(got);
    enum answer answer = DIFFERS;
    for (double h = 1e-4; h > 5e-8; h /= 10) {
        double up = loss_at(e, x, *x + h), down = loss_at(e, x, *x - h);
        double noise = 1e-15 * fmax(1, fabs(at)) / h;
        *quotient = (up - down) / (2 * h);
        if (fabs(*quotient - got) <= allowed + noise) {
            return AGREES;
        }
        bool kink = !(fabs((up - at) / h - (at - down) / h) <= allowed + 4 * noise);
        answer = kink ? KINK : DIFFERS;
    }
    return answer;
}
static bool check_loss(struct evaluation *e, uint32_t tree, struct arena *a, struct random_verdict *v)
{
    const struct plan *p = e->p;
    const struct tree *t = &p->graph->trees.at[tree];
    const struct operand *grad = &p->variant[e->variant].output[e->output + 1];
    double *block = (double *)(e->image + p->tree_offset[tree]);
    double *got = arena_array(a, double, (size_t)operand_count(grad) + 1);
    if (!isfinite(loss_of(e))) {
        v->finite = false;
        return true;
    }
    memcpy(got, e->memory + grad->offset, (size_t)operand_count(grad) * sizeof *got);
    for (uint32_t k = 0; k < ELEMENTS; k++) {
        uint32_t leaf = k % t->n_leaf, var = t->leaf[leaf];
        int64_t n = operand_count(&p->var[var].view), first = (int64_t)p->leaf_start[tree][leaf];
        if (n == 0) {
            continue;
        }
        int64_t i = first + (int64_t)(mix64(k + 100u * tree) % (uint64_t)n);
        double quotient = 0;
        enum answer answer = compare(e, &block[i], got[i], &quotient);
        v->quotients++;
        v->moving += fabs(quotient) > 1e-7;
        v->kinks += answer == KINK;
        if (answer == DIFFERS) {
            v->failed = CHECK_GRADIENT;
            snprintf(v->why, sizeof v->why,
                     "gradient of loss \"%s\" to \"%s\"[%lld]: %.10g, difference quotient %.10g",
                     p->graph->phases.at[p->variant[e->variant].phase].minimizes.at[e->output / 2].name,
                     p->graph->vars.at[var].key, (long long)(i - first), got[i], quotient);
            return false;
        }
    }
    return true;
}
/* Outputs become the losses and their gradients. */
static void losses_only(struct phase *p, struct arena *a)
{
    p->outputs.n = p->asserts.n = 0;
    for (uint32_t i = 0; i < p->minimizes.n; i++) {
        vec_push(a, &p->outputs, ((struct output){.name = "loss", .value = p->minimizes.at[i].loss}));
        vec_push(a, &p->outputs, ((struct output){.name = "gradient", .value = p->minimizes.at[i].grad}));
    }
}
bool random_gradients(struct graph *g, struct arena *a, struct random_verdict *v)
{
    const char *why = NULL;
    for (uint32_t i = 0; i < g->phases.n; i++) {
        losses_only(&g->phases.at[i], a);
    }
    struct graph *h = random_passes(g, RANDOM_ALL_PASSES, a, &why);
    struct plan *p = h ? random_plan(h, &(struct target){.name = "cpu"}, false, a, &why) : NULL;
    struct evaluation e = {.p = p, .image = p ? random_image(p, a, &why) : NULL};
    if (!e.image) {
        v->failed = CHECK_GRADIENT;
        snprintf(v->why, sizeof v->why, "%s", why);
        return false;
    }
    e.memory = random_image(p, a, &why);
    for (e.variant = 0; e.variant < p->n_variant; e.variant++) {
        const struct phase *f = &h->phases.at[p->variant[e.variant].phase];
        for (uint32_t i = 0; i < f->minimizes.n; i++) {
            e.output = 2 * i;
            if (!check_loss(&e, f->minimizes.at[i].tree, a, v)) {
                return false;
            }
        }
    }
    return true;
}
