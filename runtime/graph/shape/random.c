/* Random draws: the type is explicit; attributes op id, phase. */
#include "runtime/graph/shape.h"

/* Attribute 1 is the phase whose step counts; it is the node's own. */
static bool draw(struct shape_ctx *c)
{
    int last = (int)c->s->n_in - 1,
        given = op_table[c->s->op].n_min; /* behind its own inputs: the iteration */
    if (last >= given && (!shape_dtype(c, last, DT_I32) || !shape_rank(c, last, 0))) {
        return false;
    }
    return shape_attrs(c, 2, 0) && shape_explicit(c) &&
           (c->s->attr[1] == c->s->phase || shape_fail(c, DIAG_I0001, "a draw of another phase"));
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
    return draw(c) && shape_float(c, 0) && shape_rank(c, 0, 0) &&
           (c->out.dtype == DT_BOOL ||
            shape_fail(c, DIAG_E2002, "rand.bernoulli gives bool, not %s", shape_text(c, &c->out)));
}

bool shape_randint(struct shape_ctx *c)
{
    return draw(c) && shape_dtype(c, 0, DT_I32) && shape_rank(c, 0, 0) &&
           (c->out.dtype == DT_I32 ||
            shape_fail(c, DIAG_E2002, "rand.int gives i32, not %s", shape_text(c, &c->out)));
}
