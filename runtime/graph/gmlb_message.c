/* Records to messages and back, by the fields' names. A field without its twin in gmlb.proto is a bug that
 * stops the first test. */
#include <stdlib.h>
#include "runtime/graph/gmlb.pb-c.h"
#include "runtime/graph/gmlb_message.h"
#include "runtime/graph/shape.h"

static const ProtobufCFieldDescriptor *twin(const ProtobufCMessage *m, const struct field *f)
{
    const ProtobufCFieldDescriptor *d =
        protobuf_c_message_descriptor_get_field_by_name(m->descriptor, f->name);
    if (!d) {
        abort(); /* gmlb.proto and record.c disagree */
    }
    return d;
}

static void *slot(ProtobufCMessage *m, const ProtobufCFieldDescriptor *d)
{
    return (char *)m + d->offset;
}

static const void *slot_const(const ProtobufCMessage *m, const ProtobufCFieldDescriptor *d)
{
    return (const char *)m + d->offset;
}

static void *new_message(struct arena *a, const ProtobufCMessageDescriptor *d)
{
    ProtobufCMessage *m = arena_alloc(a, d->sizeof_message);
    protobuf_c_message_init(d, m);
    return m;
}

/* -- packing */

uint32_t pack_dim(struct pack_ctx *c, dim d)
{
    if (d == 0) {
        return 0;
    }
    if (c->dim_index[d] == 0) {
        struct text t = {.arena = c->arena};
        dim_print(&c->g->dims, d, &t);
        vec_push(c->arena, &c->dims, t.at);
        c->dim_index[d] = c->dims.n;
    }
    return c->dim_index[d];
}

static char *copy_text(struct pack_ctx *c, const char *s)
{
    return arena_strndup(c->arena, s, strlen(s));
}

static void pack_array(struct pack_ctx *c, const struct field *f, const void *record, ProtobufCMessage *m,
                       const ProtobufCFieldDescriptor *d)
{
    uint32_t n = field_count(record, f);
    size_t count = n > f->first ? n - f->first : 0;
    void *at;
    if (f->kind == FIELD_U32S) {
        at = (void *)(uintptr_t)field_array(record, f);
    } else {
        void **items = arena_array(c->arena, void *, count);
        for (uint32_t i = f->first; i < n; i++) {
            if (f->kind == FIELD_STRS) {
                items[i - f->first] = copy_text(c, ((const char *const *)field_array(record, f))[i]);
            } else {
                items[i - f->first] = new_message(c->arena, d->descriptor);
                pack_record(c, f->list, field_item(record, f, i), items[i - f->first]);
            }
        }
        at = items;
    }
    memcpy(slot(m, d), &at, sizeof at);
    memcpy((char *)m + d->quantifier_offset, &count, sizeof count);
}

static void pack_message(struct pack_ctx *c, const struct field *f, const void *record, ProtobufCMessage *m,
                         const ProtobufCFieldDescriptor *d)
{
    void *x = new_message(c->arena, d->descriptor);
    if (f->kind == FIELD_SPAN) {
        const struct span *s = field_of(record, f);
        Gmlb__Span *out = x;
        out->file = s->file;
        out->start = s->start;
        out->end = s->end;
    } else {
        const struct type *t = field_of(record, f);
        Gmlb__Type *out = x;
        out->dtype = t->dtype;
        out->n_dim = (size_t)t->rank;
        out->dim = arena_array(c->arena, uint32_t, (size_t)t->rank);
        for (int i = 0; i < t->rank; i++) {
            out->dim[i] = pack_dim(c, t->dim[i]);
        }
    }
    memcpy(slot(m, d), &x, sizeof x);
}

static void pack_field(struct pack_ctx *c, const struct field *f, const void *record, ProtobufCMessage *m)
{
    const ProtobufCFieldDescriptor *d = twin(m, f);
    switch (f->kind) {
    case FIELD_STR: {
        const char *s = field_array(record, f);
        char *copy = s || d->label == PROTOBUF_C_LABEL_REQUIRED ? copy_text(c, s ? s : "") : NULL;
        memcpy(slot(m, d), &copy, sizeof copy);
        break;
    }
    case FIELD_I64:
    case FIELD_F64:
        memcpy(slot(m, d), field_of(record, f), 8);
        break;
    case FIELD_BOOL:
        *(protobuf_c_boolean *)slot(m, d) = *(const bool *)field_of(record, f);
        break;
    case FIELD_DIM: {
        uint32_t v = pack_dim(c, field_u32(record, f));
        memcpy(slot(m, d), &v, sizeof v);
        break;
    }
    case FIELD_TYPE:
    case FIELD_SPAN:
        pack_message(c, f, record, m, d);
        break;
    case FIELD_U32S:
    case FIELD_STRS:
    case FIELD_LIST:
        pack_array(c, f, record, m, d);
        break;
    default: /* U32, ENUM, VAL */
        memcpy(slot(m, d), field_of(record, f), 4);
    }
}

void pack_record(struct pack_ctx *c, const struct record *r, const void *record, ProtobufCMessage *m)
{
    for (uint32_t i = 0; i < r->n; i++) {
        pack_field(c, &r->field[i], record, m);
    }
}

/* -- unpacking */

bool unpack_dim(const struct unpack_ctx *c, uint32_t index, dim *out)
{
    if (index >= c->n_dims) {
        return false;
    }
    *out = c->dims[index];
    return true;
}

static bool unpack_type(struct unpack_ctx *c, const Gmlb__Type *m, struct type *t)
{
    if (m->n_dim > LIMIT_RANK || m->dtype >= DT_COUNT) {
        return false;
    }
    *t = (struct type){.dtype = (enum dtype)m->dtype, .rank = (int)m->n_dim};
    for (int i = 0; i < t->rank; i++) {
        if (!unpack_dim(c, m->dim[i], &t->dim[i])) {
            return false;
        }
    }
    return true;
}

static bool unpack_u32s(struct unpack_ctx *c, const struct field *f, const uint32_t *from, uint32_t n,
                        void *record)
{
    uint32_t *at = arena_array(c->g->arena, uint32_t, n);
    if (n) {
        memcpy(at, from, n * sizeof *at);
    }
    field_set_array(record, f, n ? at : NULL, n);
    return true;
}

static bool unpack_strs(struct unpack_ctx *c, const struct field *f, char *const *from, uint32_t n,
                        void *record)
{
    const char **at = arena_array(c->g->arena, const char *, n);
    for (uint32_t i = 0; i < n; i++) {
        at[i] = intern(c->g->names, from[i]);
    }
    field_set_array(record, f, n ? at : NULL, n);
    return true;
}

static bool unpack_array(struct unpack_ctx *c, const struct field *f, const ProtobufCMessage *m,
                         const ProtobufCFieldDescriptor *d, void *record)
{
    size_t n; /* of a file of at most LIMIT_GRAPH_BYTES */
    void *from;
    memcpy(&n, (const char *)m + d->quantifier_offset, sizeof n);
    memcpy(&from, slot_const(m, d), sizeof from);
    if (f->kind != FIELD_LIST) {
        return f->kind == FIELD_U32S ? unpack_u32s(c, f, from, (uint32_t)n, record)
                                     : unpack_strs(c, f, from, (uint32_t)n, record);
    }
    for (size_t i = 0; i < n; i++) {
        void *item = field_push(c->g->arena, record, f);
        if (!unpack_record(c, f->list, ((ProtobufCMessage *const *)from)[i], item)) {
            return false;
        }
    }
    return true;
}

static bool unpack_field(struct unpack_ctx *c, const struct field *f, const ProtobufCMessage *m, void *record)
{
    const ProtobufCFieldDescriptor *d = twin(m, f);
    void *to = (char *)record + f->at, *from;
    uint32_t v;
    memcpy(&v, slot_const(m, d), sizeof v);
    switch (f->kind) {
    case FIELD_STR: {
        memcpy(&from, slot_const(m, d), sizeof from);
        const char *s = from ? intern(c->g->names, from) : NULL;
        memcpy(to, &s, sizeof s);
        return true;
    }
    case FIELD_I64:
    case FIELD_F64:
        memcpy(to, slot_const(m, d), 8);
        return true;
    case FIELD_BOOL:
        *(bool *)to = v != 0;
        return true;
    case FIELD_DIM:
        return unpack_dim(c, v, to);
    case FIELD_TYPE:
        memcpy(&from, slot_const(m, d), sizeof from);
        return unpack_type(c, from, to);
    case FIELD_SPAN: {
        memcpy(&from, slot_const(m, d), sizeof from);
        const Gmlb__Span *s = from;
        *(struct span *)to = (struct span){s->start, s->end, (uint16_t)s->file};
        return s->file <= UINT16_MAX;
    }
    case FIELD_U32S:
    case FIELD_STRS:
    case FIELD_LIST:
        return unpack_array(c, f, m, d, record);
    case FIELD_ENUM:
        memcpy(to, &v, sizeof v);
        return v < f->n_names;
    default:
        memcpy(to, &v, sizeof v);
        return true;
    }
}

bool unpack_record(struct unpack_ctx *c, const struct record *r, const ProtobufCMessage *m, void *record)
{
    for (uint32_t i = 0; i < r->n; i++) {
        if (!unpack_field(c, &r->field[i], m, record)) {
            return false;
        }
    }
    return true;
}
