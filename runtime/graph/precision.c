/* Rewrites every f32 of a graph to another float type, in place: nodes, casts, variables, data fields, knobs;
 * or marks its products. */
#include "runtime/graph/precision.h"
#include "runtime/graph/shape.h"

static uint8_t changed(uint8_t t, enum dtype to, bool all)
{
    return t == DT_F32 || (all && t == DT_BF16) ? (uint8_t)to : t;
}

static void rewrite(struct graph *g, enum dtype t, bool all)
{
    for (val v = 1; v < g->nodes.n; v++) {
        struct node *n = &g->nodes.at[v];
        n->dtype = changed(n->dtype, t, all);
        enum op_sig sig = op_table[n->op].sig;
        if (sig == SIG_CAST || sig == SIG_BITS) {
            g->attrs.at[n->attr] = changed((uint8_t)g->attrs.at[n->attr], t, all);
        }
    }
    for (uint32_t i = 1; i < g->vars.n; i++) {
        struct type *x = &g->vars.at[i].type;
        x->dtype = (enum dtype)changed((uint8_t)x->dtype, t, all);
    }
    for (uint32_t i = 0; i < g->datas.n; i++) {
        for (uint32_t f = 0; f < g->datas.at[i].n_field; f++) {
            struct type *x = &g->datas.at[i].field[f].type;
            x->dtype = (enum dtype)changed((uint8_t)x->dtype, t, all);
        }
    }
    for (uint32_t i = 0; i < g->configs.n; i++) {
        struct config *c = &g->configs.at[i];
        c->dtype = (enum dtype)changed((uint8_t)c->dtype, t, all);
    }
    graph_rehash(g);
}

void graph_set_precision(struct graph *g, enum dtype t)
{
    rewrite(g, t, false);
}

void graph_all_f64(struct graph *g)
{
    rewrite(g, DT_F64, true);
}

void graph_all_f32(struct graph *g)
{
    rewrite(g, DT_F32, true);
}

void graph_products_tf32(struct graph *g)
{
    uint32_t one = g->attrs.n;
    vec_push(g->arena, &g->attrs, 1);
    for (val v = 1; v < g->nodes.n; v++) {
        struct node *n = &g->nodes.at[v];
        bool user = g->phases.at[n->phase].kind == PHASE_USER;
        if (n->op == OP_matmul && n->dtype == DT_F32 && n->n_attr == 0 && user) {
            n->attr = one;
            n->n_attr = 1;
        }
    }
    graph_rehash(g);
}
