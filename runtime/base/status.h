/* Status: what every fallible function returns. The message itself goes to a diagnostic sink (diag.h). */
#ifndef GML_BASE_STATUS_H
#define GML_BASE_STATUS_H

#define S(name, code, doc) ST_##name,
enum status {
#include "status.def"
    ST_COUNT
};
#undef S

/* Every fallible function carries this: a dropped status is a compile error. */
#define MUST_CHECK __attribute__((warn_unused_result))

/* Process exit code of a status class. */
int status_exit_code(enum status s);
/* One-line meaning, never NULL. */
const char *status_text(enum status s);

/* Returns the first failure of a chain of calls. */
#define TRY(call)                                                                                            \
    do {                                                                                                     \
        enum status try_status_ = (call);                                                                    \
        if (try_status_ != ST_OK) {                                                                          \
            return try_status_;                                                                              \
        }                                                                                                    \
    } while (0)

#endif
