/* Faults that the tools of compute-sanitizer must find. Private to the tool. */
#ifndef GML_TOOLS_GPU_PLANTED_H
#define GML_TOOLS_GPU_PLANTED_H

enum planted {
    PLANTED_NOTHING,
    PLANTED_WRITE,   /* memcheck: an op writes behind its value, inside the arena */
    PLANTED_LATE,    /* memcheck: an op reads a value that is dead */
    PLANTED_EARLY,   /* initcheck: an op reads a value that this launch has not written */
    PLANTED_RACE,    /* racecheck: shared memory is read without a barrier */
    PLANTED_BARRIER, /* synccheck: a barrier that not every thread reaches */
    PLANTED_COUNT
};

#ifdef __cplusplus
extern "C"
#endif
    /* Runs the kernel with the mistake; 0, or 1 when the device reports an error. */
    int
    planted_kernel(int which);

#endif
