/* The end of every test program: one case of tests is run, and its result becomes the exit code. */
#ifndef GML_TESTS_SUITE_H
#define GML_TESTS_SUITE_H
#include <check.h>

/* Runs the tests of t. CK_FORK: each in a process of its own; CK_NOFORK: all in this one. A test that takes
 * two minutes has failed; on a busy machine, seconds say nothing. */
static inline int suite_run(const char *name, TCase *t, enum fork_status fork)
{
    Suite *s = suite_create(name);
    tcase_set_timeout(t, 120);
    suite_add_tcase(s, t);
    SRunner *r = srunner_create(s);
    srunner_set_fork_status(r, fork);
    srunner_run_all(r, CK_ENV);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}

#endif
