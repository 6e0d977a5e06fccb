/* The counting wrapper, generated from cuda_api.def: no call can bypass it. */
#include "runtime/exec/cuda/cuda_api.h"

#define CALL(name, text, params, args, count)                                                                \
    static int counted_##name params                                                                         \
    {                                                                                                        \
        struct cuda_counter *c = ctx;                                                                        \
        const struct cuda_api *inner = &c->inner;                                                            \
        struct exec_counts *n = &c->n;                                                                       \
        (void)n;                                                                                             \
        count;                                                                                               \
        return inner->name args;                                                                             \
    }
#include "runtime/exec/cuda/cuda_api.def"
#undef CALL

static const char *error_text(void *ctx, int code)
{
    struct cuda_counter *c = ctx;
    return c->inner.error_text(c->inner.ctx, code);
}
static const char *library_text(void *ctx, void *library)
{
    struct cuda_counter *c = ctx;
    return c->inner.library_text(c->inner.ctx, library);
}

void cuda_count(struct cuda_counter *c, const struct cuda_api *inner, struct cuda_api *out)
{
    c->inner = *inner;
    c->n = (struct exec_counts){0};
    out->ctx = c;
    out->error_text = error_text;
    out->library_text = library_text;
#define CALL(name, text, params, args, count) out->name = counted_##name;
#include "runtime/exec/cuda/cuda_api.def"
#undef CALL
}

#define CALL(name, text, params, args, count) [CUDA_CALL_##name] = text,
const char *const cuda_call_name[CUDA_CALLS] = {
#include "runtime/exec/cuda/cuda_api.def"
};
