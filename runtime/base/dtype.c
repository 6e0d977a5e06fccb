/* Facts about element types, generated from dtype.def. */
#include "runtime/base/dtype.h"
#include <string.h>

struct dtype_row {
    const char *name;
    size_t bytes;
    bool is_float;
};
#define DT(name, text, bytes, is_float) {text, bytes, is_float},
static const struct dtype_row rows[DT_COUNT] = {
    {"none", 0, false},
#include "runtime/base/dtype.def"
};
#undef DT

static enum dtype known(enum dtype t)
{
    return (unsigned)t < DT_COUNT ? t : DT_NONE;
}

size_t dtype_size(enum dtype t)
{
    return rows[known(t)].bytes;
}

const char *dtype_name(enum dtype t)
{
    return rows[known(t)].name;
}

enum dtype dtype_parse(const char *name)
{
    for (int t = DT_NONE + 1; t < DT_COUNT; t++) {
        if (strcmp(rows[t].name, name) == 0) {
            return (enum dtype)t;
        }
    }
    return DT_NONE;
}

bool dtype_is_float(enum dtype t)
{
    return rows[known(t)].is_float;
}
