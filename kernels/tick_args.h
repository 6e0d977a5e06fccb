/* From a variant of the plan to the parameters of its tick. Used by all backends. */
#ifndef GML_KERNELS_TICK_ARGS_H
#define GML_KERNELS_TICK_ARGS_H
#include "kernels/tick.h"
#include "runtime/plan/plan.h"

#ifdef __cplusplus
#define GML_SAME(a, b) static_assert((int)(a) == (int)(b), #a)
#else
#define GML_SAME(a, b) _Static_assert((int)(a) == (int)(b), #a)
#endif
GML_SAME(TICK_MEAN, METRIC_MEAN);
GML_SAME(TICK_SUM, METRIC_SUM);
GML_SAME(TICK_LAST, METRIC_LAST);
GML_SAME(TICK_MIN, METRIC_MIN);
GML_SAME(TICK_MAX, METRIC_MAX);
#undef GML_SAME

/* Returns NULL, or why the phase cannot tick: more metrics or asserts than a slot holds. */
static inline const char *tick_args_make(const struct plan *p, uint32_t variant, struct tick_args *out)
{
    const struct plan_variant *v = &p->variant[variant];
    const struct phase *ph = &p->graph->phases.at[v->phase];
    memset(out, 0, sizeof *out);
    uint32_t replicas = p->graph->replicas ? p->graph->replicas : 1;
    if (v->n_metric > RING_METRICS || v->n_metric * replicas > RING_VALUES ||
        v->metric0 + v->n_metric * replicas > LIMIT_METRICS) {
        return "the phase has more metrics than a slot of the metric ring holds";
    }
    if (v->n_assert > TICK_ASSERTS) {
        return "the phase has more asserts than one launch can check";
    }
    out->control = p->control;
    out->phase = v->phase;
    out->rows = v->rows;
    out->has_ok = v->has_ok;
    out->ok = v->ok.offset;
    out->drops_tail = ph->training || ph->lanes;
    out->metric0 = v->metric0;
    out->replicas = (uint16_t)(p->graph->phases.at[v->phase].kind == PHASE_USER ? replicas : 1);
    out->n_metric = (uint8_t)v->n_metric;
    for (uint32_t i = 0; i < v->n_metric; i++) {
        out->mode[i] = (uint8_t)v->metric[i].mode;
        out->is_f64[i] = v->metric[i].value.dtype == DT_F64;
        out->value[i] = v->metric[i].value.offset;
    }
    out->n_assert = (uint8_t)v->n_assert;
    for (uint32_t i = 0; i < v->n_assert; i++) {
        out->assert_value[i] = v->assert_value[i].offset;
        out->assert_node[i] = i < ph->asserts.n ? ph->asserts.at[i].value : 0;
    }
    return NULL;
}

#endif
