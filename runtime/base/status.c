/* The status table as text and exit codes. */
#include "runtime/base/status.h"

struct status_row {
    int exit_code;
    const char *text;
};
#define S(name, code, doc) {code, doc},
static const struct status_row rows[ST_COUNT] = {
#include "runtime/base/status.def"
};
#undef S

static enum status known(enum status s)
{
    return (unsigned)s < ST_COUNT ? s : ST_INTERNAL;
}

int status_exit_code(enum status s)
{
    return rows[known(s)].exit_code;
}

const char *status_text(enum status s)
{
    return rows[known(s)].text;
}
