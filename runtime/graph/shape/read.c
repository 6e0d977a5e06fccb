/* read: the type of the variable. */
#include "runtime/graph/shape.h"

bool shape_read(struct shape_ctx *c)
{
    if (!shape_attrs(c, 1, 0) || !shape_index(c, 0, c->g->vars.n, "variable") || c->s->attr[0] == 0) {
        return c->s->n_attr == 1 && c->s->attr[0] == 0 ? shape_fail(c, DIAG_I0001, "read of no variable")
                                                       : false;
    }
    c->out = c->g->vars.at[c->s->attr[0]].type;
    return type_valid(c->g, &c->out) || shape_fail(c, DIAG_I0001, "read of a variable without a type");
}
