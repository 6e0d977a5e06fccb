/* knob: a live config, with the element type it was declared with. */
#include "runtime/graph/shape.h"

bool shape_knob(struct shape_ctx *c)
{
    if (!shape_attrs(c, 1, 0) || !shape_index(c, 0, c->g->configs.n, "config")) {
        return false;
    }
    const struct config *k = &c->g->configs.at[c->s->attr[0]];
    return (k->kind == CONFIG_LIVE && k->dtype > DT_NONE && k->dtype < DT_COUNT)
               ? shape_scalar(c, k->dtype)
               : shape_fail(c, DIAG_I0001, "config \"%s\" is not live", k->name);
}
