/* Weights: the parameters of a model as safetensors, by parameter path.
 *
 * Both calls work on a host image of the arena (the caller downloads and uploads). Padding of the flat blocks
 * is not stored, so a file does not depend on how parameters are grouped into trees. Loading is strict: every
 * parameter once, with its shape; any float type of the file is converted.
 */
#ifndef GML_CHECKPOINT_CHECKPOINT_H
#define GML_CHECKPOINT_CHECKPOINT_H
#include "runtime/format/format.h"
#include "runtime/plan/plan.h"

MUST_CHECK enum status weights_save(const struct plan *p, const void *image, const char *path,
                                    struct diag_sink *sink);
/* Renames tensors before they are matched: a `*` in `from` is any text, as short as possible, and the k-th
 * `*` of `to` repeats what the k-th of `from` was. The first map that fits a tensor renames it. */
struct weight_map {
    const char *from, *to;
};
/* The image changes only when everything fits: F2201 with a table of missing, unexpected and wrong tensors;
 * U1002 for a map that fits no tensor; F2202 for NaN and infinity, unless they are allowed. */
MUST_CHECK enum status weights_load(const struct plan *p, void *image, const char *path,
                                    const struct weight_map *map, uint32_t n_map, bool allow_nonfinite,
                                    struct diag_sink *sink);
/* The renaming alone; names go to `a`. */
MUST_CHECK enum status weights_rename(struct arena *a, struct array_file *f, const char *path,
                                      const struct weight_map *map, uint32_t n_map, struct diag_sink *sink);

#endif
