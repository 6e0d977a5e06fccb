/* --parts: how long each part of a launch takes. Events on the stream stand before the first part and behind
 * each; a part that a launch does not have takes 0 s. */
#include "runtime/exec/cuda/cuda_exec.h"

enum { START = PART_COUNT };

enum status cuda_parts_open(struct exec *e)
{
    for (int i = 0; i <= START && e->options.parts; i++) {
        CUDA_TRY(e, event_create, &e->mark[i]);
    }
    return ST_OK;
}

void cuda_parts_close(struct exec *e)
{
    for (int i = 0; i <= START; i++) {
        if (e->mark[i]) {
            e->api.event_destroy(e->api.ctx, e->mark[i]);
        }
    }
}

enum status cuda_parts_begin(struct exec *e)
{
    if (e->options.parts) {
        memset(e->marked, 0, sizeof e->marked);
        CUDA_TRY(e, event_record, e->mark[START], e->stream);
    }
    return ST_OK;
}

enum status cuda_part_end(struct exec *e, uint8_t part)
{
    if (e->options.parts) {
        CUDA_TRY(e, event_record, e->mark[part], e->stream);
        e->marked[part] = true;
    }
    return ST_OK;
}

enum status cuda_parts(struct exec *e, double seconds[PART_COUNT])
{
    if (!e->options.parts || e->issued == e->base) {
        return cuda_error(e, ST_USAGE,
                          e->options.parts ? "no launch was timed yet"
                                           : "the backend was opened without timing of parts");
    }
    CUDA_TRY(e, stream_sync, e->stream);
    void *from = e->mark[START];
    for (int i = 0; i < PART_COUNT; i++) {
        seconds[i] = 0;
        if (e->marked[i]) {
            CUDA_TRY(e, event_seconds, from, e->mark[i], &seconds[i]);
            from = e->mark[i];
        }
    }
    return ST_OK;
}
