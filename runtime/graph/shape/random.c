/* Random draws: the type is explicit; attributes op id, phase, and a third one where every replica draws for
 * itself along the first axis. */
#include "runtime/graph/shape.h"

/* Attribute 1 is the phase whose step counts; it is the node's own. */
static bool draw(struct shape_ctx *c)
{
    int last = (int)c->s->n_in - 1,
        given = op_table[c->s->op].n_min; /* behind its own inputs: the iteration */
    if (last >= given && (!shape_dtype(c, last, DT_I32) || !shape_rank(c, last, 0))) {
        return false;
    }
    bool all = c->s->n_attr == 3;
    return shape_attrs(c, all ? 3 : 2, 0) && shape_explicit(c) &&
           (!all || shape_of_replicas(c) ||
            shape_fail(c, DIAG_I0001, "a draw without an axis of replicas")) &&
           (c->s->attr[1] == c->s->phase || shape_fail(c, DIAG_I0001, "a draw of another phase"));
}

/* The parameter of a distribution: one for all, or one for each replica. */
static bool given(struct shape_ctx *c)
{
    return (c->s->n_attr == 3 && type_is_single(c->g, &c->in[0])) || shape_rank(c, 0, 0);
}

bool shape_uniform(struct shape_ctx *c)
{
    return draw(c) &&
           (dtype_is_float(c->out.dtype) ||
            shape_fail(c, DIAG_E2002, "rand.uniform gives floats, not %s", shape_text(c, &c->out)));
}

bool shape_normal(struct shape_ctx *c)
{
    return draw(c) && (dtype_is_float(c->out.dtype) ||
                       shape_fail(c, DIAG_E2002, "rand.normal gives floats, not %s", shape_text(c, &c->out)));
}

bool shape_bernoulli(struct shape_ctx *c)
{
    return draw(c) && shape_float(c, 0) && given(c) &&
           (c->out.dtype == DT_BOOL ||
            shape_fail(c, DIAG_E2002, "rand.bernoulli gives bool, not %s", shape_text(c, &c->out)));
}

bool shape_randint(struct shape_ctx *c)
{
    return draw(c) && shape_dtype(c, 0, DT_I32) && given(c) &&
           (c->out.dtype == DT_I32 ||
            shape_fail(c, DIAG_E2002, "rand.int gives i32, not %s", shape_text(c, &c->out)));
}
