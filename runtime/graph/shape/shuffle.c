/* shuffle: a bijection of indices, another one for each epoch; with a second attribute, which is 1, for each
 * replica too, along the first axis. */
#include "runtime/graph/shape.h"

bool shape_shuffle(struct shape_ctx *c)
{
    bool all = c->s->n_attr == 2;
    c->out = c->in[0];
    return shape_attrs(c, all ? 2 : 1, 1) && shape_dtype(c, 0, DT_I32) && shape_dtype(c, 1, DT_I32) &&
           (!all || shape_of_replicas(c) || shape_fail(c, DIAG_I0001, "a shuffle without replicas")) &&
           ((all && type_is_single(c->g, &c->in[1])) || shape_rank(c, 1, 0));
}
