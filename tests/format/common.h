/* Shared by the format tests: an arena, a sink and the file that was read, anew for each test. */
#ifndef GML_TESTS_FORMAT_COMMON_H
#define GML_TESTS_FORMAT_COMMON_H
#include "runtime/format/format.h"
#include "tests/suite.h"

static struct arena *arena;
static struct diag_sink sink;
static struct array_file file;

static void begin(void)
{
    arena = arena_new();
    diag_init(&sink, arena, NULL);
}

static void end(void)
{
    arena_free(arena);
}

#endif
