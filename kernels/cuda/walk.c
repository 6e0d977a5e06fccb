/* Collapsing of axes and launch geometry: pure arithmetic on operands. */
#include "kernels/cuda/describe.h"

static bool can_merge(const struct walk *w, int a, int64_t next_dim, const int64_t *next)
{
    for (int o = 0; o < w->operands; o++) {
        if (w->stride[o][a] != next[o] * next_dim) {
            return false;
        }
    }
    return true;
}

static void push_axis(struct walk *w, int64_t size, const int64_t *stride)
{
    if (w->rank > 0 && can_merge(w, w->rank - 1, size, stride)) {
        w->dim[w->rank - 1] *= size;
    } else {
        w->dim[w->rank++] = size;
    }
    for (int o = 0; o < w->operands; o++) {
        w->stride[o][w->rank - 1] = stride[o];
    }
}

void walk_make(struct walk *w, int rank, const int64_t *size, int n, const int64_t *const *stride)
{
    memset(w, 0, sizeof *w);
    w->operands = n;
    w->n = 1;
    for (int a = 0; a < rank; a++) {
        int64_t s[CUDA_OPERANDS] = {0};
        for (int o = 0; o < n; o++) {
            s[o] = stride[o][a];
        }
        w->n *= size[a];
        if (size[a] != 1) {
            push_axis(w, size[a], s);
        }
    }
    if (w->rank == 0) {
        w->dim[w->rank++] = 1;
    }
}

void walk_operands(struct walk *w, int n, const struct operand *const *o)
{
    const int64_t *stride[CUDA_OPERANDS];
    for (int i = 0; i < n; i++) {
        stride[i] = o[i]->stride;
    }
    walk_make(w, o[n - 1]->rank, o[n - 1]->dim, n, stride);
}

void walk_contiguous(const struct walk *w, int64_t *stride)
{
    int64_t s = 1;
    for (int a = w->rank - 1; a >= 0; a--) {
        stride[a] = s;
        s *= w->dim[a];
    }
}

int launch_make(struct launch *out, const void *function, int64_t blocks, int64_t blocks_y, uint32_t threads,
                uint32_t threads_y, const void *params, size_t bytes)
{
    if (!function || bytes > sizeof out->params || blocks < 1 || blocks > INT32_MAX || blocks_y > 65535) {
        return CUDA_UNSUPPORTED;
    }
    *out = (struct launch){.function = function,
                           .grid = {(uint32_t)blocks, (uint32_t)blocks_y, 1},
                           .block = {threads, threads_y, 1},
                           .n_params = (uint32_t)bytes};
    memcpy(out->params, params, bytes);
    return 1;
}

int64_t grid_for(const struct target *t, int64_t n, int64_t per)
{
    int64_t most = (int64_t)(t && t->n_sm > 0 ? t->n_sm : 132) * 16;
    int64_t blocks = ceil_div(n, per);
    return blocks < most ? blocks : most;
}
