/* Prints the text form of a graph; see text.h. */
#include "runtime/graph/record.h"
#include "runtime/graph/text.h"

void text_quote(struct text *out, const char *s)
{
    text_append(out, "\"", 1);
    for (; *s; s++) {
        unsigned char c = (unsigned char)*s;
        if (c == '"' || c == '\\') {
            text_printf(out, "\\%c", c);
        } else if (c < 0x20 || c == 0x7f) {
            text_printf(out, "\\x%02x", c);
        } else {
            text_append(out, s, 1);
        }
    }
    text_append(out, "\"", 1);
}

void text_place(struct text *out, const struct graph *g, struct span at)
{
    const struct source *s = at.file && at.file < g->sources.list.n ? &g->sources.list.at[at.file] : NULL;
    if (!s || at.start > at.end || at.end > s->n) {
        text_printf(out, "#%u:%u-%u", (unsigned)at.file, (unsigned)at.start, (unsigned)at.end);
        return;
    }
    uint32_t line, column;
    source_line_column(s, at.start, &line, &column);
    if (at.file != 1) {
        text_printf(out, "%u/", (unsigned)at.file);
    }
    text_printf(out, "%u:%u+%u", (unsigned)line, (unsigned)column, (unsigned)(at.end - at.start));
}

static bool is_place(struct span at)
{
    return at.file || at.start || at.end;
}

static void print_type(struct text *out, const struct graph *g, const struct type *t)
{
    text_printf(out, "%s[", dtype_name(t->dtype));
    for (int i = 0; i < t->rank; i++) {
        text_printf(out, "%s", i ? ", " : "");
        dim_print(&g->dims, t->dim[i], out);
    }
    text_printf(out, "]");
}

static void print_u32s(struct text *out, const char *label, const uint32_t *v, uint32_t n)
{
    text_printf(out, "%s%s%s", n ? " " : "", n ? label : "", n ? "=" : "");
    for (uint32_t i = 0; i < n; i++) {
        text_printf(out, "%s%u", i ? "," : "", (unsigned)v[i]);
    }
}

static void print_strs(struct text *out, const char *label, const char *const *v, uint32_t n)
{
    text_printf(out, "%s%s%s", n ? " " : "", n ? label : "", n ? "=" : "");
    for (uint32_t i = 0; i < n; i++) {
        text_printf(out, "%s", i ? "," : "");
        text_quote(out, v[i]);
    }
}

static void print_number(struct text *out, const struct field *f, const void *at)
{
    int64_t i;
    double x;
    memcpy(&i, at, sizeof i);
    memcpy(&x, at, sizeof x);
    if (i != 0 && f->kind == FIELD_I64) {
        text_printf(out, " %s=%lld", f->name, (long long)i);
    } else if (i != 0) {
        text_printf(out, " %s=%.17g", f->name, x);
    }
}

/* Scalars that are zero are left out; enums are always said. */
static void print_scalar(struct text *out, const struct graph *g, const void *record, const struct field *f)
{
    uint32_t v = f->kind == FIELD_BOOL ? *(const bool *)field_of(record, f) : field_u32(record, f);
    if (f->kind == FIELD_ENUM) {
        text_printf(out, " %s=%s", f->name, v < f->n_names ? f->names[v] : "?");
    } else if (v == 0) {
        return;
    } else if (f->kind == FIELD_BOOL) {
        text_printf(out, " %s", f->name);
    } else if (f->kind == FIELD_DIM) {
        text_printf(out, " %s=", f->name);
        dim_print(&g->dims, v, out);
    } else {
        text_printf(out, " %s=%s%u", f->name, f->kind == FIELD_VAL ? "%" : "", (unsigned)v);
    }
}

static void print_field(struct text *out, const struct graph *g, const void *record, const struct field *f)
{
    switch (f->kind) {
    case FIELD_STR: {
        const char *s = field_array(record, f);
        if (s) {
            text_printf(out, " %s=", f->name);
            text_quote(out, s);
        }
        break;
    }
    case FIELD_I64:
    case FIELD_F64:
        print_number(out, f, field_of(record, f));
        break;
    case FIELD_TYPE:
        text_printf(out, " %s=", f->name);
        print_type(out, g, field_of(record, f));
        break;
    case FIELD_SPAN: {
        struct span at;
        memcpy(&at, field_of(record, f), sizeof at);
        if (is_place(at)) {
            text_printf(out, " at=");
            text_place(out, g, at);
        }
        break;
    }
    case FIELD_U32S:
        print_u32s(out, f->name, field_array(record, f), field_count(record, f));
        break;
    case FIELD_STRS:
        print_strs(out, f->name, field_array(record, f), field_count(record, f));
        break;
    case FIELD_LIST:
        break;
    default:
        print_scalar(out, g, record, f);
    }
}

static void print_record(struct text *out, const struct graph *g, const struct record *r, const void *record,
                         uint32_t index, int indent)
{
    text_printf(out, "%*s%s %u", indent, "", r->name, (unsigned)index);
    for (uint32_t i = 0; i < r->n; i++) {
        print_field(out, g, record, &r->field[i]);
    }
    text_printf(out, "\n");
    for (uint32_t i = 0; i < r->n; i++) {
        const struct field *f = &r->field[i];
        for (uint32_t k = f->first; f->kind == FIELD_LIST && k < field_count(record, f); k++) {
            print_record(out, g, f->list, field_item(record, f, k), k, indent + 2);
        }
    }
}

static void print_attrs(struct text *out, const struct graph *g, const struct node *n)
{
    if (n->n_attr == 0 && n->n_dim == 0) {
        return;
    }
    text_printf(out, " {");
    for (uint32_t i = 0; i < n->n_attr; i++) {
        int64_t a = node_attrs(g, n)[i];
        text_printf(out, "%s", i ? ", " : "");
        if (attr_is_f64(n, i) && bits_f64(a) == bits_f64(a)) {
            text_printf(out, "=%.17g", bits_f64(a));
        } else {
            text_printf(out, "%lld", (long long)a);
        }
    }
    text_printf(out, "%s", n->n_dim ? "; " : "");
    for (uint32_t i = 0; i < n->n_dim; i++) {
        text_printf(out, "%s", i ? ", " : "");
        dim_print(&g->dims, node_dims(g, n)[i], out);
    }
    text_printf(out, "}");
}

void text_node(struct text *out, const struct graph *g, val v)
{
    const struct node *n = graph_node(g, v);
    struct type t = node_type(g, v);
    text_printf(out, "%%%u = %s ", (unsigned)v, op_table[n->op].name);
    print_type(out, g, &t);
    for (uint32_t i = 0; i < n->n_in; i++) {
        text_printf(out, "%s %%%u", i ? "," : "", (unsigned)node_inputs(g, n)[i]);
    }
    print_attrs(out, g, n);
    if (n->scope) {
        text_printf(out, " @");
        text_quote(out, g->scopes.at[n->scope]);
    }
    if (is_place(n->span)) {
        text_printf(out, " at=");
        text_place(out, g, n->span);
    }
}

static void print_nodes(struct text *out, const struct graph *g)
{
    for (val v = 1; v < g->nodes.n; v++) {
        uint16_t phase = graph_node(g, v)->phase;
        if (v == 1 || phase != graph_node(g, v - 1)->phase) {
            const char *name = phase < g->phases.n ? g->phases.at[phase].name : "?";
            text_printf(out, "in %u # %.*s\n", (unsigned)phase, (int)strcspn(name, "\n"), name);
        }
        text_node(out, g, v);
        text_printf(out, "\n");
    }
}

static void print_sources(struct text *out, const struct graph *g)
{
    for (uint32_t i = 1; i < g->sources.list.n; i++) {
        const struct source *s = &g->sources.list.at[i];
        text_printf(out, "source %u ", (unsigned)i);
        text_quote(out, s->path);
        text_printf(out, "\n|");
        for (uint32_t k = 0; k < s->n; k++) {
            text_append(out, s->text + k, 1);
            if (s->text[k] == '\n') {
                text_append(out, "|", 1);
            }
        }
        text_printf(out, "\n");
    }
}

void graph_print(const struct graph *g, FILE *to)
{
    struct arena *scratch = arena_new();
    struct text out = {.arena = scratch};
    text_printf(&out, "graph %d model=", GRAPH_TEXT_VERSION);
    text_quote(&out, g->model);
    text_printf(&out, "\n");
    bool nodes_done = false;
    for (uint32_t i = 0; i < graph_record.n; i++) {
        const struct field *f = &graph_record.field[i];
        if (!nodes_done && !strcmp(f->name, "phase")) {
            print_nodes(&out, g);
            nodes_done = true;
        }
        for (uint32_t k = f->first; f->kind == FIELD_LIST && k < field_count(g, f); k++) {
            print_record(&out, g, f->list, field_item(g, f, k), k, 0);
        }
    }
    print_sources(&out, g);
    fwrite(out.at, 1, out.n, to);
    arena_free(scratch);
}
