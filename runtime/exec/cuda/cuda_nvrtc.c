/* Source text to machine code through NVRTC. Its few functions are declared here: the header comes with the
 * toolkit, which a machine that only runs models does not have. */
#include <dlfcn.h>
#include <stdio.h>
#include <sys/stat.h>
#include "runtime/exec/cuda/cuda_nvrtc.h"

#define SYMBOLS(F)                                                                                           \
    F(const char *, nvrtcGetErrorString, (int code))                                                         \
    F(int, nvrtcVersion, (int *major, int *minor))                                                           \
    F(int, nvrtcCreateProgram,                                                                               \
      (void **out, const char *source, const char *name, int n_header, const char *const *header,            \
       const char *const *header_name))                                                                      \
    F(int, nvrtcDestroyProgram, (void **program))                                                            \
    F(int, nvrtcCompileProgram, (void *program, int n_option, const char *const *option))                    \
    F(int, nvrtcGetCUBINSize, (void *program, size_t *out))                                                  \
    F(int, nvrtcGetCUBIN, (void *program, char *out))                                                        \
    F(int, nvrtcGetProgramLogSize, (void *program, size_t *out))                                             \
    F(int, nvrtcGetProgramLog, (void *program, char *out))

struct compiler {
    void *file;
#define F(result, name, params) result(*name) params;
    SYMBOLS(F)
#undef F
};
enum { WHAT = 1024 };

static const char *(*error_string)(int code); /* for messages after a failed open too */

const char *nvrtc_error_text(int code)
{
    if (code == CUDA_COMPILER_MISSING) {
        return "libnvrtc.so.13 was not found";
    }
    const char *text = error_string ? error_string(code - CUDA_COMPILER) : NULL;
    return text ? text : "NVRTC reported an error";
}

static int status_code(int s)
{
    return s ? CUDA_COMPILER + s : 0;
}

static bool is_there(const char *folder, int n, const char *below, char out[WHAT])
{
    struct stat st;
    int got = snprintf(out, WHAT, "%.*s%s/libnvrtc.so.13", n, folder, below);
    return got > 0 && got < WHAT && stat(out, &st) == 0;
}

/* The file, or its bare name for the loader to find. */
static void find_file(const char *path, char out[WHAT])
{
    Dl_info here = {0};
    int n = path ? (int)strlen(path) : 0;
    if (path && (is_there(path, n, "", out) || is_there(path, n, "/lib64", out))) {
        return;
    }
    if (dladdr((void *)&error_string, &here) && here.dli_fname && strrchr(here.dli_fname, '/')) {
        n = (int)(strrchr(here.dli_fname, '/') - here.dli_fname);
        if (is_there(here.dli_fname, n, "", out) || is_there(here.dli_fname, n, "/../lib", out)) {
            return;
        }
    }
    if (!is_there("/usr/local/cuda/lib64", 21, "", out)) {
        snprintf(out, WHAT, "libnvrtc.so.13");
    }
}

static int open_file(const char *path, void **out)
{
    char file[WHAT];
    find_file(path, file);
    *out = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    return *out ? 0 : CUDA_COMPILER_MISSING;
}

int nvrtc_find(void *ctx, const char *path, char identity[CUDA_IDENTITY])
{
    (void)ctx;
    char file[WHAT];
    struct stat st;
    find_file(path, file);
    if (stat(file, &st) == 0 && strchr(file, '/')) {
        snprintf(identity, CUDA_IDENTITY, "nvrtc %lld %lld", (long long)st.st_size, (long long)st.st_mtime);
        return 0;
    }
    void *opened;
    snprintf(identity, CUDA_IDENTITY, "nvrtc of the loader");
    return open_file(path, &opened); /* it stays open: it is needed next, or tried again */
}

int nvrtc_open(void *ctx, const char *path, void **out)
{
    (void)ctx;
    void *file = NULL;
    int code = open_file(path, &file);
    if (code) {
        return code;
    }
    struct compiler *c = mem_alloc(sizeof *c);
    bool all = true;
    c->file = file;
#define F(result, name, params)                                                                              \
    *(void **)&c->name = dlsym(file, #name);                                                                 \
    all = all && c->name;
    SYMBOLS(F)
#undef F
    if (!all) {
        mem_free(c, sizeof *c);
        return CUDA_COMPILER_MISSING;
    }
    error_string = c->nvrtcGetErrorString;
    *out = c;
    return 0;
}

/* The library stays open: its texts may still be shown. */
int nvrtc_close(void *ctx, void *compiler)
{
    (void)ctx;
    mem_free(compiler, sizeof(struct compiler));
    return 0;
}

static void read_log(const struct compiler *c, void *program, struct cuda_cubin *out)
{
    size_t n = 0;
    if (c->nvrtcGetProgramLogSize(program, &n) || n <= 1) {
        return;
    }
    char *log = mem_alloc(n + 1);
    if (c->nvrtcGetProgramLog(program, log) == 0) {
        snprintf(out->log, sizeof out->log, "%s", log);
    }
    mem_free(log, n + 1);
}

static int read_cubin(const struct compiler *c, void *program, struct cuda_cubin *out)
{
    int code = c->nvrtcGetCUBINSize(program, &out->n);
    if (code || out->n == 0) {
        return CUDA_COMPILER + code;
    }
    out->bytes = mem_alloc(out->n);
    return status_code(c->nvrtcGetCUBIN(program, out->bytes));
}

int nvrtc_compile(void *ctx, void *compiler, const char *source, int sm, struct cuda_cubin *out)
{
    (void)ctx;
    const struct compiler *c = compiler;
    char arch[32];
    snprintf(arch, sizeof arch, "--gpu-architecture=sm_%d", sm);
    const char *const option[] = {arch, "--std=c++17", "--minimal"};
    void *program = NULL;
    *out = (struct cuda_cubin){.bytes = NULL};
    int code = c->nvrtcCreateProgram(&program, source, "group.cu", 0, NULL, NULL);
    if (code) {
        return status_code(code);
    }
    code = status_code(c->nvrtcCompileProgram(program, (int)(sizeof option / sizeof *option), option));
    read_log(c, program, out);
    code = code ? code : read_cubin(c, program, out);
    c->nvrtcDestroyProgram(&program);
    return code;
}
