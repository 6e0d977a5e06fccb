/* Between the graph's described tables and the protobuf messages of gmlb.proto. Fields meet by name
 * (record.h), so nothing here knows a table. Dims travel as indices into a table of texts, numbered in the
 * order of first use. */
#ifndef GML_GRAPH_GMLB_MESSAGE_H
#define GML_GRAPH_GMLB_MESSAGE_H
#include <protobuf-c/protobuf-c.h>
#include "runtime/graph/record.h"

struct pack_ctx {
    const struct graph *g;
    struct arena *arena;
    uint32_t *dim_index; /* by dim: index in `dims`, 0 = not used yet */
    VEC(char *) dims;    /* index 1 is at[0] */
};
uint32_t pack_dim(struct pack_ctx *c, dim d);
/* Fills a message from a record, lists included. */
void pack_record(struct pack_ctx *c, const struct record *r, const void *record, ProtobufCMessage *m);

struct unpack_ctx {
    struct graph *g;
    const dim *dims; /* by index; [0] = 0 */
    uint32_t n_dims;
};
/* Fills a record; false when a number, an enum or an index is out of range. */
bool unpack_record(struct unpack_ctx *c, const struct record *r, const ProtobufCMessage *m, void *record);
bool unpack_dim(const struct unpack_ctx *c, uint32_t index, dim *out);

#endif
