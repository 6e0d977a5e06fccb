/* gpu_planted FAULT: a small run with one fault in it, to be run under compute-sanitizer: the tool whose
 * fault it is must report it, and `nothing` must be clean under all of them. Without a tool it exits 0.
 *
 * The faults of memory are faults of a plan - three ops over x, a, b, c - that runs with --debug-plan, so
 * they show only if the executor declares its values; the other two are kernels of their own.
 */
#include <stdio.h>
#include <string.h>
#include "runtime/exec/exec.h"
#include "tools/gpu_planted.h"

enum { N = 1000, BYTES = N * (int)sizeof(float), STRIDE = 8192, X = 65536, PLANNED = 131072, ARENA = 262144 };
_Static_assert(sizeof(struct control) <= X, "the control block lies at 0");

static const char *const names[PLANTED_COUNT] = {"nothing", "write", "late", "early", "race", "barrier"};

static struct phase phase = {.name = "planted", .kind = PHASE_USER};

static struct operand vector(uint64_t offset, int64_t n)
{
    return (struct operand){.offset = offset, .dim = {n}, .stride = {1}, .dtype = DT_F32, .rank = 1};
}

/* relu(x) -> a, relu(a) -> b, relu(b) -> c; a dies with the second op, b with the third. */
static enum status run(const struct backend *b, enum planted fault, struct exec **e, char *why, size_t n)
{
    struct operand in[3] = {vector(X, N), vector(PLANNED, N), vector(PLANNED + STRIDE, N)};
    struct operand out[3] = {vector(PLANNED, N), vector(PLANNED + STRIDE, N),
                             vector(PLANNED + 2 * STRIDE, N)};
    struct plan_op op[3];
    struct plan_buffer buffer[3];
    uint32_t dying[2] = {0, 1}, die0[4] = {0, 0, 1, 2};
    out[1] = fault == PLANTED_WRITE ? vector(out[1].offset, N + 8) : out[1];
    in[1] = fault == PLANTED_WRITE ? vector(X, N + 8) : in[1];
    in[2] = fault == PLANTED_LATE ? out[0] : in[2];
    in[0] = fault == PLANTED_EARLY ? out[1] : in[0];
    for (uint32_t i = 0; i < 3; i++) {
        op[i] = (struct plan_op){.op = OP_relu, .k = {.in = &in[i], .out = &out[i], .n_in = 1, .n_out = 1}};
        buffer[i] = (struct plan_buffer){.node = i + 1,
                                         .offset = PLANNED + STRIDE * (uint64_t)i,
                                         .bytes = BYTES,
                                         .first = i,
                                         .last = i + 1,
                                         .to_end = i == 2};
    }
    struct graph g = {.phases = {&phase, 1, 1}};
    struct plan_variant v = {.op = op, .n_op = 3, .n_buffer = 3, .dying = dying, .die0 = die0};
    struct plan_constant x[2] = {{X, 1, DT_F32}, {X + STRIDE - 8, 1, DT_F32}}; /* x, with room behind it */
    struct plan p = {.graph = &g,
                     .persistent = PLANNED,
                     .planned_offset = PLANNED,
                     .workspace_offset = PLANNED,
                     .bytes = ARENA,
                     .device_bytes = ARENA,
                     .variant = &v,
                     .n_variant = 1,
                     .buffer = buffer,
                     .n_buffer = 3,
                     .constant = x,
                     .n_constant = 2};
    static char image[PLANNED];
    TRY(b->open(&(struct exec_options){.debug_plan = true}, e, why, n));
    TRY(b->arena(*e, ARENA));
    TRY(b->prepare(*e, &p));
    TRY(b->upload(*e, 0, image, sizeof image));
    enum status s = b->launch(*e, 0, true);
    /* without a tool --debug-plan finds the stray write by itself */
    TRY(s == ST_INTERNAL && fault == PLANTED_WRITE ? ST_OK : s);
    return b->sync(*e);
}

int main(int argc, char **argv)
{
    int fault = 0;
    while (argc == 2 && fault < PLANTED_COUNT && strcmp(argv[1], names[fault]) != 0) {
        fault++;
    }
    if (argc != 2 || fault == PLANTED_COUNT) {
        fprintf(stderr, "usage: gpu_planted nothing|write|late|early|race|barrier\n");
        return 2;
    }
    if (fault >= PLANTED_RACE) {
        return planted_kernel(fault);
    }
    char why[512] = "";
    const struct backend *b = backend_cuda(NULL, why, sizeof why);
    struct exec *e = NULL;
    enum status s = b ? run(b, (enum planted)fault, &e, why, sizeof why) : ST_DEVICE;
    if (s != ST_OK) {
        fprintf(stderr, "gpu_planted: %s\n", e ? b->error(e) : why);
    }
    if (e) {
        b->close(e);
    }
    return s != ST_OK;
}
