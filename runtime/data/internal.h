/* Shared by the files of runtime/data. */
#ifndef GML_DATA_INTERNAL_H
#define GML_DATA_INTERNAL_H
#include "runtime/data/data.h"

const char *member_list(struct arena *a, const struct array_file *f);
MUST_CHECK enum status find_member(const struct data_set *d, const struct array_file *f, const char *name,
                                   struct span at, struct diag_sink *sink, const struct array **out);
/* Fills part and order of a set whose stored rows are known. */
MUST_CHECK enum status split_make(struct arena *a, struct data_set *d, const struct array_file *f,
                                  struct diag_sink *sink);
/* condition.c: the part of every stored row, d->n_part = none. */
MUST_CHECK enum status condition_parts(struct arena *a, const struct data_set *d, const struct array_file *f,
                                       uint32_t *part_of, struct diag_sink *sink);
/* window.c: rows and, in the parts, which of them; and what sources of the kinds TRAIN, START and FIRST hold.
 */
MUST_CHECK enum status windows_make(struct arena *a, const struct graph *g, struct data_set *d,
                                    struct diag_sink *sink);
/* The value of a size of windows; false when it has none, or is no size of windows (0). */
bool windows_size(struct arena *a, const struct graph *g, dim size, int64_t *out);
/* time.c: an array of i32 seconds since its first row. */
MUST_CHECK enum status time_array(struct arena *a, const struct data_set *d, const struct array *x,
                                  const char *name, struct span at, struct diag_sink *sink,
                                  const struct array **out);
/* cells.c: an array of i32, for each text its place in the list of `classes`; F3104 for a text that is not in
 * it. Numbers are taken as their shortest text. */
MUST_CHECK enum status class_array(struct arena *a, const struct data_set *d, const struct array *x,
                                   const struct data_field *f, struct span at, struct diag_sink *sink,
                                   const struct array **out);
/* x, or a copy in f64 with `fill` in place of NaN. Not for text. */
const struct array *filled_array(struct arena *a, const struct array *x, double fill);
/* Element i as text: strings as they are, numbers as shortest decimals. */
const char *cell_text(struct arena *a, const struct array *x, int64_t i);
/* A source of one array made here: `rows` elements of type t. */
struct data_source made_source(struct arena *a, const char *name, enum file_type t, int64_t rows,
                               const void *bytes);

#endif
