/* Element types of tensors; the table is dtype.def. DT_NONE marks "no type yet" and is 0. */
#ifndef GML_BASE_DTYPE_H
#define GML_BASE_DTYPE_H
#include <stdbool.h>
#include <stddef.h>

#define DT(name, text, bytes, is_float) DT_##name,
enum dtype {
    DT_NONE,
#include "dtype.def"
    DT_COUNT
};
#undef DT

/* Bytes of one element; 0 for DT_NONE. */
size_t dtype_size(enum dtype t);
/* "f32", "i32", ...; "none" for DT_NONE. */
const char *dtype_name(enum dtype t);
/* The reverse of dtype_name; DT_NONE when unknown. */
enum dtype dtype_parse(const char *name);
bool dtype_is_float(enum dtype t);

#endif
