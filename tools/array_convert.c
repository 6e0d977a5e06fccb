/* array_convert: arrays from files of any kind that gml reads into one file of any kind that it writes.
 *
 *   array_convert OUT FILE..           all arrays of the files, under their names
 *   array_convert OUT NAME=FILE..      the only array of a file (npy, idx) under a name
 *
 * So two idx files become one data set: array_convert mnist.npz images=train-images-idx3-ubyte.gz
 * labels=train-labels-idx1-ubyte.gz. tools/check_interop.py checks readers and writers with it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "runtime/format/format.h"

typedef VEC(struct array) array_list;

static void no_memory(void *ctx, size_t bytes)
{
    (void)ctx;
    fprintf(stderr, "array_convert: out of memory (%zu bytes)\n", bytes);
    exit(status_exit_code(ST_RESOURCE));
}

static enum status add_file(struct arena *a, const char *argument, struct diag_sink *sink, array_list *list)
{
    struct array_file f;
    const char *equals = strchr(argument, '='), *path = equals ? equals + 1 : argument;
    TRY(arrays_read(a, path, sink, &f));
    if (equals && f.n != 1) {
        return diag_emit(sink, DIAG_U0003, NO_SPAN, "NAME=FILE needs a file of one array; %s has %u", path,
                         f.n);
    }
    for (uint32_t i = 0; i < f.n; i++) {
        struct array x = f.at[i];
        x.name = equals ? arena_strndup(a, argument, (size_t)(equals - argument)) : x.name;
        if (!x.name[0]) {
            return diag_emit(sink, DIAG_U0003, NO_SPAN, "the array of %s has no name: write NAME=%s", path,
                             path);
        }
        vec_push(a, list, x);
    }
    return ST_OK;
}

static enum status convert(struct arena *a, int n, char **argument, struct diag_sink *sink)
{
    array_list list = {0};
    for (int i = 2; i < n; i++) {
        TRY(add_file(a, argument[i], sink, &list));
    }
    return arrays_write(argument[1], list.at, list.n, sink);
}

int main(int argc, char **argv)
{
    struct diag_sink sink;
    if (argc < 3) {
        fprintf(stderr, "usage: array_convert OUT.(npz|npy|csv|safetensors) [NAME=]FILE..\n");
        return status_exit_code(ST_USAGE);
    }
    mem_seam.exhausted = no_memory;
    struct arena *a = arena_new();
    diag_init(&sink, a, NULL);
    enum status st = convert(a, argc, argv, &sink);
    diag_render(&sink, DIAG_HUMAN, false, stderr);
    arena_free(a);
    return status_exit_code(st);
}
