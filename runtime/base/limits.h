/* Limits as constants LIMIT_<NAME>; the table is limits.def. Dimensions and element counts are 64-bit. */
#ifndef GML_BASE_LIMITS_H
#define GML_BASE_LIMITS_H

#define L(name, value, doc) LIMIT_##name = (value),
enum {
#include "limits.def"
};
#undef L

#define LIMIT_DIM      ((long long)1 << 40) /* one dimension */
#define LIMIT_ELEMENTS ((long long)1 << 48) /* elements of one tensor */

#endif
