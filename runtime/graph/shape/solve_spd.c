/* solve_spd: a[.., M, M] and b[.., M, O] with equal leading axes give the shape of b. */
#include "runtime/graph/shape.h"

bool shape_solve_spd(struct shape_ctx *c)
{
    const struct type *a = &c->in[0], *b = &c->in[1];
    if (!shape_attrs(c, 0, 0) || !shape_min_rank(c, 0, 2) || !shape_min_rank(c, 1, 2) || !shape_float(c, 0)) {
        return false;
    }
    bool fits = a->rank == b->rank && a->dim[a->rank - 1] == a->dim[a->rank - 2];
    for (int i = 0; fits && i + 1 < a->rank; i++) {
        fits = a->dim[i] == b->dim[i];
    }
    c->out = *b;
    return (fits || shape_pair(c, DIAG_E2001, 0, 1, "a[.., M, M] and b[.., M, O] are needed")) &&
           (a->dtype == b->dtype || shape_pair(c, DIAG_E2002, 0, 1, "element types differ"));
}
