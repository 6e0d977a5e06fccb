/* plan_check: places, then values variant by variant. */
#include <stdarg.h>
#include <stdio.h>
#include "runtime/plan/checker.h"

struct extent operand_extent(const struct operand *o)
{
    int64_t low = 0, high = 0, size = (int64_t)dtype_size((enum dtype)o->dtype);
    for (int i = 0; i < o->rank; i++) {
        if (o->dim[i] <= 0) {
            return (struct extent){o->offset, o->offset};
        }
        int64_t span = (o->dim[i] - 1) * o->stride[i];
        low += span < 0 ? span : 0;
        high += span > 0 ? span : 0;
    }
    if (!size) {
        return (struct extent){o->offset, o->offset};
    }
    return (struct extent){o->offset + (uint64_t)(low * size), o->offset + (uint64_t)((high + 1) * size)};
}

enum status plan_wrong(const struct plan *p, struct diag_sink *sink, uint32_t node, const char *fmt, ...)
{
    char text[400];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    const struct node *n = graph_node(p->graph, node);
    return diag_emit(sink, DIAG_I0001, n->span, "plan check: %s (node %u, %s)", text, node,
                     node ? op_table[n->op].name : "none");
}

enum status plan_check(const struct plan *p, struct diag_sink *sink)
{
    TRY(check_places(p, sink));
    for (uint32_t i = 0; i < p->n_variant; i++) {
        TRY(check_values(p, i, sink));
    }
    return ST_OK;
}
