/* rows: the rows this launch reads, as many as the phase takes; with a fourth attribute, which is 1, in an
 * order of its own for each replica. */
#include "runtime/graph/shape.h"

bool shape_rows(struct shape_ctx *c)
{
    bool all = c->g->replicas && c->s->n_attr == 4;
    if (!shape_attrs(c, all ? 4 : 3, 0) || !shape_index(c, 0, c->g->phases.n, "phase") ||
        !shape_index(c, 1, 3, "order")) {
        return false;
    }
    const struct phase *p = &c->g->phases.at[c->s->attr[0]];
    if (c->s->attr[0] != c->s->phase || p->data == 0 || p->b == 0) {
        return shape_fail(c, DIAG_I0001, "rows in a phase without data");
    }
    c->out = (struct type){.dtype = DT_I32, .rank = 1, .dim = {p->b}};
    c->out = all ? type_stacked(c->out, c->g->n_replicas) : c->out;
    return true;
}
