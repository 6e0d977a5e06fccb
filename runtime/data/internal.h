/* Shared by the files of runtime/data. */
#ifndef GML_DATA_INTERNAL_H
#define GML_DATA_INTERNAL_H
#include "runtime/data/data.h"

const char *member_list(struct arena *a, const struct array_file *f);
MUST_CHECK enum status find_member(const struct data_set *d, const struct array_file *f, const char *name,
                                   struct span at, struct diag_sink *sink, const struct array **out);
/* Fills part and order of a set whose rows are known. */
MUST_CHECK enum status split_make(struct arena *a, struct data_set *d, const struct array_file *f,
                                  struct diag_sink *sink);

#endif
