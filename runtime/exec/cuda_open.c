/* Finding and opening the CUDA plugin. It stays open until the process ends: its code may run at exit. */
#include "runtime/exec/exec.h"
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char plugin[] = "libgml_cuda.so";

/* Folder of the executable, without the slash at the end; "" when the system does not say. */
static void origin(char *folder, size_t n)
{
    ssize_t got = readlink("/proc/self/exe", folder, n - 1);
    folder[got > 0 ? got : 0] = 0;
    char *slash = strrchr(folder, '/');
    if (slash) {
        *slash = 0;
    }
}

/* Folder of the program or library that holds this code; "" when the loader does not say. */
static void library_origin(char *folder, size_t n)
{
    Dl_info info;
    const char *slash = dladdr(plugin, &info) && info.dli_fname ? strrchr(info.dli_fname, '/') : NULL;
    snprintf(folder, n, "%.*s", slash ? (int)(slash - info.dli_fname) : 0, slash ? info.dli_fname : "");
}

static const struct backend *load(const char *path, char *why, size_t n)
{
    void *lib = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!lib) {
        snprintf(why, n, "%s", dlerror());
        return NULL;
    }
    gml_cuda_backend_fn entry;
    *(void **)&entry = dlsym(lib, "gml_cuda_backend");
    const struct backend *b = entry ? entry(BACKEND_ABI) : NULL;
    if (!b || b->abi != BACKEND_ABI) {
        snprintf(why, n, "%s belongs to another version of gml", path);
        dlclose(lib);
        return NULL;
    }
    return b;
}

const struct backend *backend_cuda(const char *cuda_path, char *why, size_t n)
{
    char here[PATH_MAX], library[PATH_MAX], path[PATH_MAX + 64];
    origin(here, sizeof here);
    library_origin(library, sizeof library);
    const char *const place[][2] = {
        {here, ""}, {here, "/../lib"}, {library, ""}, {cuda_path ? cuda_path : "", ""}};
    for (size_t i = 0; i < sizeof place / sizeof *place; i++) {
        snprintf(path, sizeof path, "%s%s/%s", place[i][0], place[i][1], plugin);
        if (place[i][0][0] && access(path, R_OK) == 0) {
            return load(path, why, n);
        }
    }
    snprintf(why, n, "%s is neither in %s nor in %s/../lib: this is a build without CUDA", plugin, here,
             here);
    return NULL;
}
