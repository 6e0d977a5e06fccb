/* The graph as one JSON document: the described tables under their names, and the nodes. For tools; reading
 * back is what .gmlb is for. */
#include <jansson.h>
#include "runtime/graph/record.h"
#include "runtime/graph/text.h"

static json_t *json_text(const char *s)
{
    json_t *out = s ? json_string(s) : NULL;
    return out ? out : json_null(); /* NULL also when it is no UTF-8 */
}

static json_t *json_dim(const struct graph *g, dim d)
{
    int64_t v;
    if (d == 0) {
        return json_null();
    }
    if (dim_is_const(&g->dims, d, &v)) {
        return json_integer(v);
    }
    struct arena *scratch = arena_new();
    struct text t = {.arena = scratch};
    dim_print(&g->dims, d, &t);
    json_t *out = json_text(t.at);
    arena_free(scratch);
    return out;
}

static json_t *json_type_of(const struct graph *g, const struct type *t)
{
    json_t *shape = json_array();
    for (int i = 0; i < t->rank; i++) {
        json_array_append_new(shape, json_dim(g, t->dim[i]));
    }
    return json_pack("{s:s, s:o}", "dtype", dtype_name(t->dtype), "shape", shape);
}

/* {"file", "line", "column", "length"}, or null. */
static json_t *json_place(const struct graph *g, struct span at)
{
    uint32_t line, column;
    if (at.file == 0 || at.file >= g->sources.list.n || at.end > g->sources.list.at[at.file].n ||
        at.start > at.end) {
        return json_null();
    }
    const struct source *s = &g->sources.list.at[at.file];
    source_line_column(s, at.start, &line, &column);
    return json_pack("{s:o, s:i, s:i, s:i}", "file", json_text(s->path), "line", (int)line, "column",
                     (int)column, "length", (int)(at.end - at.start));
}

static json_t *json_real_or_null(double x)
{
    json_t *out = json_real(x); /* NULL for what JSON cannot say */
    return out ? out : json_null();
}

static json_t *json_record(const struct graph *g, const struct record *r, const void *record);

static json_t *json_array_field(const struct graph *g, const void *record, const struct field *f)
{
    json_t *out = json_array();
    for (uint32_t i = f->first; i < field_count(record, f); i++) {
        json_t *x = f->kind == FIELD_LIST   ? json_record(g, f->list, field_item(record, f, i))
                    : f->kind == FIELD_STRS ? json_text(((const char *const *)field_array(record, f))[i])
                                            : json_integer(((const uint32_t *)field_array(record, f))[i]);
        json_array_append_new(out, x);
    }
    return out;
}

static json_t *json_field(const struct graph *g, const void *record, const struct field *f)
{
    const void *at = field_of(record, f);
    switch (f->kind) {
    case FIELD_STR:
        return json_text(field_array(record, f));
    case FIELD_I64:
        return json_integer(*(const int64_t *)at);
    case FIELD_F64:
        return json_real_or_null(*(const double *)at);
    case FIELD_BOOL:
        return json_boolean(*(const bool *)at);
    case FIELD_ENUM: {
        uint32_t v = field_u32(record, f);
        return json_text(v < f->n_names ? f->names[v] : NULL);
    }
    case FIELD_DIM:
        return json_dim(g, field_u32(record, f));
    case FIELD_TYPE:
        return json_type_of(g, at);
    case FIELD_SPAN:
        return json_place(g, *(const struct span *)at);
    case FIELD_U32S:
    case FIELD_STRS:
    case FIELD_LIST:
        return json_array_field(g, record, f);
    default:
        return json_integer(field_u32(record, f));
    }
}

static json_t *json_record(const struct graph *g, const struct record *r, const void *record)
{
    json_t *out = json_object();
    for (uint32_t i = 0; i < r->n; i++) {
        json_object_set_new(out, r->field[i].name, json_field(g, record, &r->field[i]));
    }
    return out;
}

static json_t *json_node(const struct graph *g, val v)
{
    const struct node *n = graph_node(g, v);
    struct type t = node_type(g, v);
    json_t *in = json_array(), *attr = json_array(), *dims = json_array();
    for (uint32_t i = 0; i < n->n_in; i++) {
        json_array_append_new(in, json_integer(node_inputs(g, n)[i]));
    }
    for (uint32_t i = 0; i < n->n_attr; i++) {
        int64_t a = node_attrs(g, n)[i];
        json_array_append_new(attr, attr_is_f64(n, i) ? json_real_or_null(bits_f64(a)) : json_integer(a));
    }
    for (uint32_t i = 0; i < n->n_dim; i++) {
        json_array_append_new(dims, json_dim(g, node_dims(g, n)[i]));
    }
    return json_pack("{s:i, s:s, s:i, s:o, s:o, s:o, s:o, s:o, s:o}", "id", (int)v, "op",
                     op_table[n->op].name, "phase", (int)n->phase, "type", json_type_of(g, &t), "in", in,
                     "attr", attr, "dims", dims, "scope", json_text(g->scopes.at[n->scope]), "span",
                     json_place(g, n->span));
}

void graph_json(const struct graph *g, FILE *out)
{
    json_t *root = json_record(g, &graph_record, g), *nodes = json_array();
    for (val v = 1; v < g->nodes.n; v++) {
        json_array_append_new(nodes, json_node(g, v));
    }
    json_object_set_new(root, "nodes", nodes);
    json_dumpf(root, out, JSON_INDENT(1) | JSON_REAL_PRECISION(17));
    fputc('\n', out);
    json_decref(root);
}
