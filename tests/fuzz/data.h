/* Data files through a whole run: opened, split, cut into windows, filled in, computed, and passed over once.
 * The first byte of an input names the model, the rest is what its file holds: `t` times, conditions and
 * windows of a CSV file; `n` arrays of an npz file, split by a field, standardized; `b` bytes in lanes; `o` a
 * draw that a file replaces; `w` weights with new names.
 */
#ifndef GML_TESTS_FUZZ_DATA_H
#define GML_TESTS_FUZZ_DATA_H
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
#include "runtime/base/seam.h"
#include "runtime/run/run.h"

static const struct fuzz_model {
    char letter;
    const char *file; /* what takes its place is the input */
    const char *text;
} fuzz_models[] = {
    {'t', "input.csv",
     "gml 1\n"
     "config n: dim = 3\n"
     "data d = \"input.csv\" {\n"
     "    split = (train = field(\"k\") < 2 and field(\"s\") != \"x\", test = field(\"k\") >= 2 or "
     "field(\"s\") == \"x\")\n"
     "    t: i32[n] = window(timestamp(\"t\") // 60, n)\n"
     "    x: f32[n, 2] = window(columns(\"a\"..\"b\", missing = 0), n) |> standardize\n"
     "    c: i32 = window(classes(\"s\", [\"ab\", \"x\", \"y\", \"n\", \"a\"]), 1)\n"
     "    y: i32 = window(\"k\", 1, offset = n)\n"
     "}\n"
     "phase eval on d{split = \"train\", batch = 4} as r { metric m = mean(r.x) + f32(sum(r.t) + sum(r.c) + "
     "sum(r.y)) "
     "}\n"
     "run { eval }\n"},
    {'n', "input.npz",
     "gml 1\n"
     "data d = \"input.npz\" {\n"
     "    split = field(\"part\")\n"
     "    x: f32[4] = standardize(flatten(field(\"x\", [2, 2]), 1, 2))\n"
     "    y: i32 = field(\"y\")\n"
     "    z: bf16 = field(\"z\")\n"
     "    b: bool = field(\"b\")\n"
     "}\n"
     "phase eval on d{split = \"train\", batch = 4} as r {\n"
     "    output x = r.x, s = f32(r.z) + f32(r.b) + f32(r.y)\n"
     "}\n"
     "run { eval }\n"},
    {'b', "input.bin",
     "gml 1\n"
     "data d = \"input.bin\" {\n"
     "    split = (train = 0.9, val = 0.1)\n"
     "    ids: i32[5] = window(bytes(), 5, stride = 4)\n"
     "    fresh: bool = first_of_sequence()\n"
     "}\n"
     "phase eval on d{split = \"train\", batch = 2, lanes = true} as r {\n"
     "    state h: i32[2] = 0\n"
     "    next h = select(r.fresh, zeros(h), h) + r.ids[:, 0]\n"
     "    metric m = f32(max(r.ids)) using max\n"
     "}\n"
     "run { eval for 3 steps }\n"},
    {'o', "input.npy",
     "gml 1\n"
     "phase eval {\n"
     "    let eps = rand.normal([2, 3])\n"
     "    metric m = sum(eps)\n"
     "}\n"
     "run { eval }\n"},
    {'w', "input.safetensors",
     "gml 1\n"
     "import nn\n"
     "let net = nn.Linear{2}\n"
     "phase eval { metric m = sum(net(ones([3, 2]))) }\n"
     "run { eval }\n"},
};

static const uint8_t *fuzz_file;
static size_t fuzz_file_bytes;

/* What a model reads beside it is the input; everything else is there. */
static inline int fuzz_open(const char *path, int flags, unsigned mode)
{
    const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    if (strncmp(name, "input.", 6) != 0) {
        return open(path, flags | O_CLOEXEC, (mode_t)mode);
    }
    int fd = memfd_create("input", MFD_CLOEXEC);
    if (fd < 0 || pwrite(fd, fuzz_file, fuzz_file_bytes, 0) != (ssize_t)fuzz_file_bytes) {
        abort();
    }
    return fd;
}

static inline void fuzz_data(const uint8_t *bytes, size_t n)
{
    const struct fuzz_model *m = fuzz_models;
    while (m < fuzz_models + sizeof fuzz_models / sizeof *fuzz_models && n && m->letter != (char)bytes[0]) {
        m++;
    }
    if (!n || m == fuzz_models + sizeof fuzz_models / sizeof *fuzz_models) {
        return;
    }
    fuzz_file = bytes + 1;
    fuzz_file_bytes = n - 1;
    io_seam.open = fuzz_open;
    struct arena *a = arena_new();
    struct diag_sink s;
    struct graph *g = NULL;
    struct run *r = NULL;
    struct summary out;
    static const char *const draw = "eval.eps";
    const struct data_override over = {draw, m->file};
    struct weight_map map = {.from = "net.*", .to = "net.*"};
    struct compile_options c = {.std_path = fuzz_std(), .override = &draw, .n_override = m->letter == 'o'};
    struct run_options o = {.folder = "", .device = "cpu", .steps = -1, .threads = 1, .quiet = true};
    if (m->letter == 'o') {
        o.override = &over;
        o.n_override = 1;
    } else if (m->letter == 'w') {
        o.weights = m->file;
        o.map = &map;
        o.n_map = 1;
    }
    diag_init(&s, a, NULL);
    promise(gml_compile_text(a, "fuzz.gml", m->text, (uint32_t)strlen(m->text), &c, &s, &g) == ST_OK,
            "the model compiles", &s);
    enum status st = run_open(g, &o, &s, &r);
    promise(st == ST_OK || s.n_errors > 0, "a message when refused", &s);
    if (st == ST_OK) {
        st = run_eval(r, &out);
        promise(st == ST_OK || s.n_errors > 0, "a message when it cannot be computed", &s);
    }
    run_close(r);
    arena_free(a);
}

#endif
