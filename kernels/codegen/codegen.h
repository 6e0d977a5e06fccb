/* Groups as CUDA kernels: the source text of one kernel for a group, and the launch of it. Pure: operands and
 * numbers in, text and numbers out; the same group gives the same text everywhere.
 *
 * The text holds the vocabulary (kernels/vocab.h), a prelude, the formulas of ops.def and numbers, nothing of
 * a user's file. Shapes and strides are constants in it; places in the arena are not: a kernel is called as
 * kernel(char *arena, params), and params is an array of uint64_t (codegen_places). Groups that differ in
 * places alone have the same text and share a kernel.
 *
 * Forms: FLAT, a thread for some neighbouring points; ROWS, neighbouring threads share a row; COLUMNS,
 * neighbouring threads work on neighbouring rows, which lie side by side in memory, or on several each. A
 * long row is cut into segments, each a block's; the last block to come by adds up what they left. Orders of
 * addition depend on the domain and the strides alone.
 */
#ifndef GML_KERNELS_CODEGEN_H
#define GML_KERNELS_CODEGEN_H
#include "runtime/plan/group.h"

enum {
    CODEGEN_VERSION = 3,     /* of the generator: part of the key of cached kernels */
    CODEGEN_COUNTERS = 4096, /* u32 words, 0 between launches, that launches one after another share */
    CODEGEN_NAME = 24,
    CODEGEN_PLACES = 128
};
enum codegen_form { CODEGEN_FLAT, CODEGEN_ROWS, CODEGEN_COLUMNS };

/* How a launch shares the domain among threads. */
struct codegen_schedule {
    uint8_t form;
    bool kept;                         /* full values that are wanted behind a REDUCE stay in registers */
    int vector;                        /* neighbouring points that a thread takes at once; COLUMNS: rows */
    int threads;                       /* of a block */
    int lanes, rows;                   /* threads of a row; rows of a block */
    int chunks;                        /* kept: vectors of a thread */
    int64_t blocks, segments, segment; /* blocks for all rows; cuts of a row, and points in one */
};
struct codegen_kernel {
    struct codegen_schedule schedule;
    char name[CODEGEN_NAME]; /* "gml_" and the hash of the text that follows the name */
    const char *source;      /* in the arena */
    size_t bytes;
};

/* The kernel of a launch of OP_group. False: nothing to do, the domain has no points and no rows. */
bool codegen_group(const struct kargs *k, struct arena *a, struct codegen_kernel *out);
/* Its parameters: the places of k.in, of k.out, of the scratch, of the counters (`counters`: bytes from the
 * arena's start), and the nodes of its GROUP_CHECKs. Returns how many. */
int codegen_places(const struct kargs *k, uint64_t counters, uint64_t places[CODEGEN_PLACES]);

#endif
