/* Diagnostics for programs: one JSON object a line. Private to diag_render.c. */
#ifndef GML_BASE_DIAG_JSON_H
#define GML_BASE_DIAG_JSON_H
#include "runtime/base/diag.h"

void diag_json(const struct sources *sources, const struct diag *d, FILE *out);

#endif
