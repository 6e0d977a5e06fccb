/* Groups as text for people, a line for each instruction, in the notation of docs/dump.md. */
#include "runtime/plan/group.h"
#include "runtime/plan/print.h"

static void put_value(struct text *t, const struct group *g, uint16_t i)
{
    text_printf(t, "%s%u", g->instr[i].row ? "r" : "v", i);
}

static void put_source(struct text *t, const struct group_instr *x)
{
    switch (x->kind) {
    case GROUP_LOAD:
        text_printf(t, x->turn ? "in%u[t]" : "in%u", x->operand);
        break;
    case GROUP_CONST:
        text_printf(t, "%.9g", x->value);
        break;
    case GROUP_INDEX:
        text_printf(t, "index %u", x->operand);
        break;
    case GROUP_CHECK:
        text_printf(t, "label %.0f", x->value);
        break;
    case GROUP_RANGES:
        text_printf(t, "ranges in%u", x->operand);
        break;
    default:
        text_printf(t, "%s", op_table[x->op].name);
        break;
    }
}

const char *group_line(const struct group *g, uint16_t i, struct arena *a)
{
    const struct group_instr *x = &g->instr[i];
    struct text t = {.arena = a};
    put_value(&t, g, i);
    text_printf(&t, " %s = ", dtype_name((enum dtype)x->dtype));
    put_source(&t, x);
    for (int k = 0; k < x->n_in; k++) {
        text_printf(&t, x->kind == GROUP_LOAD ? " where " : " ");
        put_value(&t, g, x->in[k]);
    }
    return t.at;
}

const char *group_store_line(const struct group *g, uint16_t i, struct arena *a)
{
    struct text t = {.arena = a};
    text_printf(&t, g->store[i].turn ? "out%u[t] = " : "out%u = ", g->store[i].operand);
    put_value(&t, g, g->store[i].value);
    return t.at;
}
