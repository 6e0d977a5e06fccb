/* Values: making them, describing them to people, comparing them. */
#include "compiler/elab.h"

struct value poison(void)
{
    return (struct value){.kind = V_POISON};
}
struct value none_value(void)
{
    return (struct value){.kind = V_NONE};
}
struct value num_value(double x, bool is_int)
{
    return (struct value){.kind = V_NUM, .known = true, .is_int = is_int, .num = x};
}
struct value bool_value(bool b)
{
    return (struct value){.kind = V_BOOL, .known = true, .b = b};
}
struct value str_value(const char *s)
{
    return (struct value){.kind = V_STR, .str = s};
}
struct value dim_value(struct elab *e, dim d)
{
    int64_t c;
    if (!d) {
        return poison();
    }
    if (dim_is_const(&e->g->dims, d, &c)) {
        return num_value((double)c, true);
    }
    return (struct value){.kind = V_DIM, .d = d};
}
struct value tensor_value(val v, uint32_t unit)
{
    return v ? (struct value){.kind = V_TENSOR, .node = v, .unit = unit} : poison();
}
struct value list_value(struct elab *e, uint32_t n)
{
    struct list *l = arena_new_of(e->arena, struct list);
    l->n = n;
    l->at = arena_array(e->arena, struct value, n ? n : 1);
    return (struct value){.kind = V_LIST, .list = l};
}
struct value record_value(struct elab *e, uint32_t n)
{
    struct record *r = arena_new_of(e->arena, struct record);
    r->n = n;
    r->name = arena_array(e->arena, const char *, n ? n : 1);
    r->at = arena_array(e->arena, struct value, n ? n : 1);
    return (struct value){.kind = V_RECORD, .record = r};
}
struct value *value_field(struct value r, const char *name)
{
    for (uint32_t i = 0; i < r.record->n; i++) {
        if (!strcmp(r.record->name[i], name)) {
            return &r.record->at[i];
        }
    }
    return NULL;
}
/* The parts of a list or record. */
static uint32_t parts(struct value v, struct value **at)
{
    if (v.kind == V_LIST) {
        *at = v.list->at;
        return v.list->n;
    }
    if (v.kind == V_RECORD) {
        *at = v.record->at;
        return v.record->n;
    }
    return 0;
}
struct value count_parts(struct elab *e, struct value v, struct span at)
{
    struct value *in = NULL;
    uint32_t n = parts(v, &in);
    uint64_t all = n;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t known = in[i].kind == V_LIST     ? in[i].list->parts
                         : in[i].kind == V_RECORD ? in[i].record->parts
                                                  : 0;
        all += known                    ? known
               : in[i].kind == V_LIST   ? in[i].list->n
               : in[i].kind == V_RECORD ? in[i].record->n
                                        : 0;
    }
    if (all > LIMIT_PARTS) {
        return fail(e, DIAG_E0110, at, "more than %d values inside each other", (int)LIMIT_PARTS);
    }
    if (v.kind == V_LIST) {
        v.list->parts = (uint32_t)all;
    } else {
        v.record->parts = (uint32_t)all;
    }
    return v;
}
bool is_poison(struct value v)
{
    struct value *at = NULL;
    uint32_t n = parts(v, &at);
    for (uint32_t i = 0; i < n; i++) {
        if (is_poison(at[i])) {
            return true;
        }
    }
    return v.kind == V_POISON;
}
bool is_number(struct value v)
{
    return v.kind == V_NUM || v.kind == V_DIM;
}
bool is_given(struct value v)
{
    return v.kind != V_MISSING && v.kind != V_NONE;
}
bool is_scalar_static(struct value v)
{
    return is_number(v) || v.kind == V_BOOL;
}
struct type tensor_type(struct elab *e, struct value v)
{
    return node_type(e->g, v.node);
}
int value_phase(struct elab *e, struct value v)
{
    struct value *at = NULL;
    uint32_t n = parts(v, &at);
    if (v.kind == V_TENSOR || v.kind == V_TREE) {
        return graph_node(e->g, v.node)->phase;
    }
    for (uint32_t i = 0; i < n; i++) {
        int p = value_phase(e, at[i]);
        if (p >= 0) {
            return p;
        }
    }
    return -1;
}

/* -- text */

const char *dim_text(struct elab *e, dim d)
{
    struct text t = {.arena = e->arena};
    dim_print(&e->g->dims, d, &t);
    return t.at ? t.at : "?";
}
static const char *record_text(struct elab *e, struct value v)
{
    struct text t = {.arena = e->arena};
    text_printf(&t, "a record (");
    for (uint32_t i = 0; i < v.record->n; i++) {
        if (i == 6) {
            text_printf(&t, ", ..");
            break;
        }
        text_printf(&t, "%s%s: %s", i ? ", " : "", v.record->name[i], value_text(e, v.record->at[i]));
    }
    text_printf(&t, ")");
    return t.at;
}
static const char *number_text(struct elab *e, struct value v)
{
    if (!v.known) {
        return v.is_int ? "a whole number known at load" : "a number known at load";
    }
    return arena_printf(e->arena, "the number %.15g", v.num);
}
const char *value_text(struct elab *e, struct value v)
{
    struct type t;
    switch ((enum vkind)v.kind) {
    case V_MISSING:
        return "nothing";
    case V_POISON:
        return "a wrong value";
    case V_NONE:
        return "none";
    case V_NUM:
        return number_text(e, v);
    case V_DIM:
        return arena_printf(e->arena, "the dimension %s", dim_text(e, v.d));
    case V_BOOL:
        return !v.known ? "a bool known at load" : v.b ? "true" : "false";
    case V_STR:
        return arena_printf(e->arena, "\"%s\"", v.str);
    case V_TYPE:
        return arena_printf(e->arena, "the type %s", ttype_text(e, v.type));
    case V_LIST:
        return arena_printf(e->arena, "a list of %u", v.list->n);
    case V_RANGE:
        return "a range";
    case V_RECORD:
        return record_text(e, v);
    case V_TENSOR:
        t = tensor_type(e, v);
        return type_text(e->g, &t);
    case V_TREE:
        return arena_printf(e->arena, "the tree %s", e->trees.at[v.tree].name);
    case V_TAGS:
        return "a value for each leaf of a tree";
    case V_LAYER:
        return arena_printf(e->arena, "the layer %s", v.layer->name);
    case V_FN:
        return arena_printf(e->arena, "the fn %s", v.fn->name ? v.fn->name : "( )");
    case V_INST:
        return arena_printf(e->arena, "an instance of %s (%s)", v.inst->layer->name, v.inst->path);
    case V_MODULE:
        return arena_printf(e->arena, "the module %s", v.module->name);
    case V_BUILTIN:
        return arena_printf(e->arena, "the operator %s", v.builtin->name);
    case V_PHASE:
        return arena_printf(e->arena, "the phase %s", e->g->phases.at[v.index].name);
    case V_DATA:
        return arena_printf(e->arena, "the data set %s", e->g->datas.at[v.index].name);
    case V_VAR:
        return "storage";
    case V_WINDOW:
        return "windows over the rows of a file";
    }
    return "?";
}

/* -- equality */

bool value_same(struct elab *e, struct value a, struct value b)
{
    if (a.kind != b.kind) {
        return false;
    }
    switch ((enum vkind)a.kind) {
    case V_NONE:
        return true;
    case V_NUM:
        return a.num == b.num;
    case V_BOOL:
        return a.b == b.b;
    case V_DIM:
        return a.d == b.d;
    case V_STR:
        return !strcmp(a.str, b.str);
    case V_LAYER:
        return a.layer == b.layer;
    case V_FN:
        return a.fn->body == b.fn->body && a.fn->inst == b.fn->inst;
    case V_INST:
        return a.inst == b.inst;
    case V_MODULE:
        return a.module == b.module;
    case V_BUILTIN:
        return a.builtin == b.builtin;
    case V_PHASE:
        return a.index == b.index;
    case V_DATA:
        return a.index == b.index;
    case V_LIST:
        if (a.list->n != b.list->n) {
            return false;
        }
        for (uint32_t i = 0; i < a.list->n; i++) {
            if (!value_same(e, a.list->at[i], b.list->at[i])) {
                return false;
            }
        }
        return true;
    default:
        return false;
    }
}
