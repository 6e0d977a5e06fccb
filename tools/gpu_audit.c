/* libgml_audit.so: counts the driver calls of any CUDA program from outside. Set CUDA_INJECTION64_PATH to
 * this file and GML_AUDIT to the file that gets one line "<calls> <name>" for each driver function at exit.
 * Counting is CUPTI's; the program is not changed. */
#include <cupti.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

enum { CALLS = 4096 };
static unsigned long long calls[CALLS];
static __typeof__(&cuptiGetCallbackName) callback_name;

static void CUPTIAPI count(void *user, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void *data)
{
    const CUpti_CallbackData *d = data;
    (void)user;
    if (domain == CUPTI_CB_DOMAIN_DRIVER_API && d->callbackSite == CUPTI_API_ENTER && id < CALLS) {
        __atomic_fetch_add(&calls[id], 1, __ATOMIC_RELAXED);
    }
}

static void report(void)
{
    const char *path = getenv("GML_AUDIT");
    FILE *f = path ? fopen(path, "w") : NULL;
    for (uint32_t i = 0; f && i < CALLS; i++) {
        const char *name = NULL;
        if (calls[i] && callback_name(CUPTI_CB_DOMAIN_DRIVER_API, i, &name) == CUPTI_SUCCESS) {
            fprintf(f, "%llu %s\n", calls[i], name ? name : "?");
        }
    }
    if (f) {
        fclose(f);
    }
}

static void *open_cupti(void)
{
    const char *const places[] = {"libcupti.so.13", "/usr/local/cuda/lib64/libcupti.so.13",
                                  "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so.13"};
    void *lib = NULL;
    for (size_t i = 0; i < sizeof places / sizeof *places && !lib; i++) {
        lib = dlopen(places[i], RTLD_NOW | RTLD_GLOBAL);
    }
    return lib;
}

/* Called by the driver before its first work. Returns 1 for success, as it asks. */
int InitializeInjection(void);
__attribute__((visibility("default"))) int InitializeInjection(void)
{
    void *lib = open_cupti();
    CUpti_SubscriberHandle subscriber;
    __typeof__(&cuptiSubscribe) subscribe;
    __typeof__(&cuptiEnableDomain) enable;
    if (!lib) {
        fprintf(stderr, "libgml_audit: libcupti.so.13 was not found\n");
        return 1;
    }
    *(void **)&subscribe = dlsym(lib, "cuptiSubscribe");
    *(void **)&enable = dlsym(lib, "cuptiEnableDomain");
    *(void **)&callback_name = dlsym(lib, "cuptiGetCallbackName");
    if (!subscribe || !enable || !callback_name || subscribe(&subscriber, count, NULL) != CUPTI_SUCCESS ||
        enable(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API) != CUPTI_SUCCESS) {
        fprintf(stderr, "libgml_audit: CUPTI refused\n");
        return 1;
    }
    atexit(report);
    return 1;
}
