/* Descriptions of the graph's tables. */
#include "runtime/graph/record.h"

#define COUNT(x) (uint32_t)(sizeof(x) / sizeof *(x))
#define FIELD(S, k, m)                                                                                       \
    {                                                                                                        \
        .name = #m, .kind = FIELD_##k, .at = offsetof(struct S, m)                                           \
    }
#define ENUM(S, m, texts)                                                                                    \
    {                                                                                                        \
        .name = #m, .kind = FIELD_ENUM, .at = offsetof(struct S, m), .names = texts, .n_names = COUNT(texts) \
    }
#define ARRAY(S, k, label, m, c)                                                                             \
    {                                                                                                        \
        .name = label, .kind = FIELD_##k, .at = offsetof(struct S, m), .count = offsetof(struct S, c)        \
    }
#define LIST(S, record_, m, c)                                                                               \
    {                                                                                                        \
        .name = #m, .kind = FIELD_LIST, .at = offsetof(struct S, m), .count = offsetof(struct S, c),         \
        .list = &record_                                                                                     \
    }
#define VECTOR(S, label, m, from, record_)                                                                   \
    {                                                                                                        \
        .name = label, .kind = FIELD_LIST, .at = offsetof(struct S, m.at), .count = offsetof(struct S, m.n), \
        .is_vec = true, .first = from, .list = &record_                                                      \
    }
#define RECORD(label, S, fields)                                                                             \
    {                                                                                                        \
        label, fields, COUNT(fields), sizeof(struct S)                                                       \
    }

/* Numbers of enum dtype as names; "none" for 0. */
#define DT(name, text, bytes, is_float) [DT_##name] = text,
static const char *const dtypes[] = {
    [DT_NONE] = "none",
#include "runtime/base/dtype.def"
};
#undef DT
static const char *const config_kinds[] = {"fixed", "dim", "live"};
static const char *const var_kinds[] = {"param", "state", "data"};
static const char *const split_kinds[] = {"none", "field", "fraction", "rows", "condition"};
static const char *const source_kinds[] = {"field", "bytes", "time", "class", "train", "start", "first"};
static const char *const metric_modes[] = {"mean", "sum", "last", "min", "max"};
static const char *const phase_kinds[] = {"init", "data", "user", "run"};
static const char *const run_kinds[] = {"block", "go", "repeat", "every", "save", "stop"};
static const char *const run_units[] = {"launch", "steps", "epochs", "rounds", "phase"};

static const struct field config_fields[] = {
    ENUM(config, kind, config_kinds), FIELD(config, STR, name),   ENUM(config, dtype, dtypes),
    FIELD(config, F64, value),        FIELD(config, DIM, symbol), FIELD(config, STR, text),
    FIELD(config, STR, doc),          FIELD(config, SPAN, span),
};
static const struct record config_record = RECORD("config", config, config_fields);

static const struct field check_fields[] = {
    FIELD(size_check, DIM, size),
    FIELD(size_check, SPAN, span),
};
static const struct record check_record = RECORD("check", size_check, check_fields);

static const struct field var_fields[] = {
    ENUM(var, kind, var_kinds),
    FIELD(var, STR, key),
    FIELD(var, TYPE, type),
    FIELD(var, U32, tree),
    FIELD(var, U32, leaf),
    FIELD(var, U32, data),
    ARRAY(var, STRS, "tag", tags, n_tags),
    FIELD(var, STR, file),
    FIELD(var, STR, array),
    FIELD(var, SPAN, span),
};
static const struct record var_record = RECORD("var", var, var_fields);

static const struct field tree_fields[] = {FIELD(tree, STR, name), ARRAY(tree, U32S, "leaf", leaf, n_leaf)};
static const struct record tree_record = RECORD("tree", tree, tree_fields);

static const struct field loop_fields[] = {
    FIELD(loop, U32, parent),   FIELD(loop, U32, phase), FIELD(loop, DIM, count),
    FIELD(loop, BOOL, reverse), FIELD(loop, SPAN, span),
};
static const struct record loop_record = RECORD("loop", loop, loop_fields);

static const struct field part_fields[] = {FIELD(split_part, STR, name), FIELD(split_part, F64, fraction),
                                           FIELD(split_part, I64, from), FIELD(split_part, I64, to),
                                           ARRAY(split_part, STRS, "step", step, n_step)};
static const struct record part_record = RECORD("part", split_part, part_fields);

static const struct field field_fields[] = {FIELD(data_field, STR, name),
                                            ENUM(data_field, kind, source_kinds),
                                            FIELD(data_field, STR, source),
                                            FIELD(data_field, TYPE, type),
                                            FIELD(data_field, U32, var),
                                            FIELD(data_field, VAL, raw),
                                            ARRAY(data_field, STRS, "column", column, n_column),
                                            ARRAY(data_field, STRS, "class", names, n_names),
                                            FIELD(data_field, BOOL, fills),
                                            FIELD(data_field, F64, fill)};
static const struct record field_record = RECORD("field", data_field, field_fields);

static const struct field data_fields[] = {
    FIELD(data, STR, name),
    FIELD(data, STR, path),
    ENUM(data, split, split_kinds),
    FIELD(data, STR, split_field),
    FIELD(data, U32, phase),
    FIELD(data, DIM, rows),
    FIELD(data, DIM, stored),
    FIELD(data, DIM, extent),
    FIELD(data, DIM, stride),
    FIELD(data, SPAN, span),
    {.name = "part",
     .kind = FIELD_LIST,
     .at = offsetof(struct data, parts),
     .count = offsetof(struct data, n_part),
     .list = &part_record},
    LIST(data, field_record, field, n_field),
};
static const struct record data_record = RECORD("data", data, data_fields);

static const struct field commit_fields[] = {FIELD(commit, U32, var), FIELD(commit, U32, tree),
                                             FIELD(commit, VAL, value), FIELD(commit, VAL, guard),
                                             FIELD(commit, SPAN, span)};
static const struct record commit_record = RECORD("commit", commit, commit_fields);

static const struct field metric_fields[] = {FIELD(metric, STR, name), FIELD(metric, VAL, value),
                                             ENUM(metric, mode, metric_modes), FIELD(metric, SPAN, span)};
static const struct record metric_record = RECORD("metric", metric, metric_fields);

static const struct field output_fields[] = {FIELD(output, STR, name), FIELD(output, VAL, value),
                                             FIELD(output, SPAN, span)};
static const struct record output_record = RECORD("output", output, output_fields);
static const struct record assert_record = RECORD("assert", output, output_fields);

static const struct field minimize_fields[] = {FIELD(minimize, STR, name), FIELD(minimize, VAL, loss),
                                               FIELD(minimize, VAL, grad), FIELD(minimize, VAL, when),
                                               FIELD(minimize, U32, tree), FIELD(minimize, BOOL, partial),
                                               FIELD(minimize, SPAN, span)};
static const struct record minimize_record = RECORD("minimize", minimize, minimize_fields);

static const struct field phase_fields[] = {
    ENUM(phase, kind, phase_kinds),
    FIELD(phase, STR, name),
    FIELD(phase, BOOL, training),
    FIELD(phase, U32, data),
    FIELD(phase, STR, split),
    FIELD(phase, DIM, batch),
    FIELD(phase, DIM, b),
    FIELD(phase, BOOL, shuffle),
    FIELD(phase, BOOL, lanes),
    FIELD(phase, U32, metric_of),
    FIELD(phase, VAL, ok),
    FIELD(phase, SPAN, span),
    VECTOR(phase, "commit", commits, 0, commit_record),
    VECTOR(phase, "metric", metrics, 0, metric_record),
    VECTOR(phase, "output", outputs, 0, output_record),
    VECTOR(phase, "assert", asserts, 0, assert_record),
    VECTOR(phase, "minimize", minimizes, 0, minimize_record),
};
static const struct record phase_record = RECORD("phase", phase, phase_fields);

static const struct field run_fields[] = {
    ENUM(run_stmt, kind, run_kinds),
    FIELD(run_stmt, U32, phase),
    ENUM(run_stmt, unit, run_units),
    FIELD(run_stmt, DIM, count),
    FIELD(run_stmt, STR, file),
    FIELD(run_stmt, U32, expr),
    ARRAY(run_stmt, U32S, "child", child, n_child),
    FIELD(run_stmt, SPAN, span),
};
static const struct record run_record = RECORD("run", run_stmt, run_fields);

static const struct field graph_fields[] = {
    FIELD(graph, STR, model),
    VECTOR(graph, "config", configs, 0, config_record),
    VECTOR(graph, "var", vars, 1, var_record),
    VECTOR(graph, "tree", trees, 0, tree_record),
    VECTOR(graph, "loop", loops, 1, loop_record),
    VECTOR(graph, "data", datas, 0, data_record),
    VECTOR(graph, "phase", phases, 0, phase_record),
    VECTOR(graph, "run", run, 0, run_record),
    VECTOR(graph, "check", checks, 0, check_record),
};
const struct record graph_record = RECORD("graph", graph, graph_fields);

void field_set_array(void *record, const struct field *f, void *at, uint32_t n)
{
    char *r = record;
    memcpy(r + f->at, &at, sizeof at);
    memcpy(r + f->count, &n, sizeof n);
    if (f->is_vec) {
        memcpy(r + f->count + sizeof n, &n, sizeof n);
    }
}

void *field_push(struct arena *a, void *record, const struct field *f)
{
    uint32_t n = field_count(record, f);
    size_t size = f->list->size;
    void *at = (void *)(uintptr_t)field_array(record, f);
    if ((n & (n - 1)) == 0) { /* room for the next power of two */
        at = arena_resize(a, at, n * size, (n ? 2 * (size_t)n : 1) * size);
    }
    field_set_array(record, f, at, n + 1);
    return memset((char *)at + n * size, 0, size);
}

const struct field *record_field(const struct record *r, const char *name, size_t n)
{
    for (uint32_t i = 0; i < r->n; i++) {
        if (strlen(r->field[i].name) == n && !memcmp(r->field[i].name, name, n)) {
            return &r->field[i];
        }
    }
    return NULL;
}
