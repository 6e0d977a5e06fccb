/* What the files of build.h share. */
#ifndef GML_COMPILER_BUILD_INTERNAL_H
#define GML_COMPILER_BUILD_INTERNAL_H
#include "compiler/build.h"

struct node_spec build_spec(const struct build *b, enum op op, const val *in, uint32_t n_in);
/* Whether a dim is the constant 1. */
bool build_is_unit(const struct build *b, dim d);
const char *build_type_text(const struct build *b, val v);
const char *build_dim_text(const struct build *b, dim d);
/* False after a diagnostic: x is no type for the signature; x and y differ in type. */
bool build_accepts(struct build *b, enum op op, enum op_sig sig, val x);
bool build_same_dtype(struct build *b, enum op op, val x, val y);

#endif
