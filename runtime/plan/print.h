/* Names of values and sizes for people; shared by the memory listing and the out-of-memory report. */
#ifndef GML_PLAN_PRINT_H
#define GML_PLAN_PRINT_H
#include "runtime/plan/plan.h"

/* "1.50 MiB", "640 B" */
const char *bytes_text(struct arena *a, uint64_t n);
/* ", model.gml:14" or "" */
const char *span_text(const struct graph *g, struct span s, struct arena *a);
/* "train: net.fc.0 matmul f32[128, 256]" with the sizes of the launch that makes it */
const char *value_name(const struct plan *p, uint32_t variant, uint32_t node, struct arena *a);

/* An instruction or a store of a group: "v3 f32 = mul v1 r2", "out0 = v3". */
const char *group_line(const struct group *g, uint16_t i, struct arena *a);
const char *group_store_line(const struct group *g, uint16_t i, struct arena *a);

extern const char *const part_name[PART_COUNT]; /* "forward", .. */
/* The whole plan as one JSON document, described in docs/dump.md. */
void plan_json(const struct plan *p, FILE *out);

#endif
