/* Weights: the parameters of a model as safetensors, by parameter path.
 *
 * Both calls work on a host image of the arena (the caller downloads and uploads). Padding of the flat blocks
 * is not stored, so a file does not depend on how parameters are grouped into trees. Loading is strict: every
 * parameter once, with its shape; any float type of the file is converted.
 */
#ifndef GML_CHECKPOINT_CHECKPOINT_H
#define GML_CHECKPOINT_CHECKPOINT_H
#include "runtime/plan/plan.h"

MUST_CHECK enum status weights_save(const struct plan *p, const void *image, const char *path,
                                    struct diag_sink *sink);
/* The image changes only when everything fits. */
MUST_CHECK enum status weights_load(const struct plan *p, void *image, const char *path,
                                    struct diag_sink *sink);

#endif
