/* Shared by the files of runtime/report. */
#ifndef GML_REPORT_INTERNAL_H
#define GML_REPORT_INTERNAL_H
#include "runtime/report/report.h"

const char *event_json(struct arena *a, const struct event *e);

#endif
