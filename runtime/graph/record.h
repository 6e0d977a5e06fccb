/* The graph's tables described as data: which fields a config, variable, phase, .. has, and where. The text
 * form, JSON and the .gmlb message are all driven by these descriptions, so a field added here (and to
 * gmlb.proto under the same name) is in all of them. Nodes, dims, scopes and sources have forms of their own.
 */
#ifndef GML_GRAPH_RECORD_H
#define GML_GRAPH_RECORD_H
#include <stddef.h>
#include "runtime/graph/graph.h"

enum field_kind {
    FIELD_STR, /* const char *, NULL = absent */
    FIELD_U32,
    FIELD_I64,
    FIELD_F64,
    FIELD_BOOL,
    FIELD_ENUM, /* any enum; `names` by value */
    FIELD_DIM,
    FIELD_TYPE,
    FIELD_VAL, /* node id */
    FIELD_SPAN,
    FIELD_U32S, /* array with a count */
    FIELD_STRS,
    FIELD_LIST, /* array of records with a count */
};
struct field {
    const char *name;
    enum field_kind kind;
    size_t at;                 /* offset of the field, of the array's pointer */
    size_t count;              /* arrays: offset of their uint32_t count */
    bool is_vec;               /* the capacity follows the count */
    uint32_t first;            /* 1 when at[0] is a placeholder */
    const struct record *list; /* LIST: what it holds */
    const char *const *names;  /* ENUM */
    uint32_t n_names;
};
struct record {
    const char *name; /* keyword of the text form */
    const struct field *field;
    uint32_t n;
    size_t size;
};
/* The graph itself: model and the lists of all tables that are described. */
extern const struct record graph_record;

static inline const void *field_of(const void *record, const struct field *f)
{
    return (const char *)record + f->at;
}
static inline uint32_t field_u32(const void *record, const struct field *f)
{
    uint32_t v;
    memcpy(&v, field_of(record, f), sizeof v);
    return v;
}
/* Elements of an array field; the placeholder counts. */
static inline uint32_t field_count(const void *record, const struct field *f)
{
    uint32_t n;
    memcpy(&n, (const char *)record + f->count, sizeof n);
    return n;
}
static inline const void *field_array(const void *record, const struct field *f)
{
    const void *p;
    memcpy(&p, field_of(record, f), sizeof p);
    return p;
}
/* Element i of a LIST. */
static inline const void *field_item(const void *record, const struct field *f, uint32_t i)
{
    return (const char *)field_array(record, f) + i * f->list->size;
}
/* Replaces an array field. */
void field_set_array(void *record, const struct field *f, void *at, uint32_t n);
/* Adds a zeroed element to a LIST and returns it; earlier elements may move. */
void *field_push(struct arena *a, void *record, const struct field *f);
const struct field *record_field(const struct record *r, const char *name, size_t n);

#endif
