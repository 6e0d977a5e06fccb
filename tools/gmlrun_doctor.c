/* `gmlrun doctor`: what this machine offers, what is missing and why. */
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>
#include "runtime/model.h"
#include "tools/common_program.h"
#include "tools/gmlrun.h"

struct finding {
    const char *name, *text;
    bool ok;
};

static struct finding ask(struct call *c, const char *name, const struct backend *b, const char *missing)
{
    char why[512] = "";
    struct exec_options o = {.cuda_path = c->run.cuda_path};
    struct exec *e = NULL;
    struct exec_device d;
    if (!b) {
        return (struct finding){name, arena_printf(c->arena, "not usable: %s", missing), false};
    }
    if (b->open(&o, &e, why, sizeof why) != ST_OK) {
        return (struct finding){name, arena_printf(c->arena, "not usable: %s", why), false};
    }
    bool ok = b->device(e, &d) == ST_OK;
    const char *text =
        ok ? arena_printf(c->arena, "%s, %.1f GiB of %.1f GiB free, %s", d.name,
                          (double)d.free / 1073741824.0, (double)d.memory / 1073741824.0, d.driver)
           : arena_printf(c->arena, "not usable: %s", b->error(e));
    b->close(e);
    return (struct finding){name, text, ok};
}

static void print_json(struct call *c, const struct finding *f, int n)
{
    printf("{");
    for (int i = 0; i < n; i++) {
        printf("%s\"%s\": {\"ok\": %s, \"text\": %s}", i ? ", " : "", f[i].name, f[i].ok ? "true" : "false",
               json_text(c->arena, f[i].text));
    }
    printf("}\n");
}

enum status command_doctor(struct call *c)
{
    char why[512] = "";
    struct utsname os;
    const char *std = model_std_folder(c->arena);
    const struct backend *cuda = backend_cuda(c->run.cuda_path, why, sizeof why);
    bool has_std = access(std, R_OK) == 0, known = uname(&os) == 0;
    struct finding f[] = {
        {"gml", "version " GML_VERSION, true},
        {"system", known ? arena_printf(c->arena, "%s %s %s", os.sysname, os.release, os.machine) : "unknown",
         true},
        {"std", has_std ? std : arena_printf(c->arena, "%s is missing", std), has_std},
        ask(c, "cpu", &backend_cpu, ""),
        ask(c, "cuda", cuda, why),
    };
    int n = sizeof f / sizeof *f;
    if (c->o.at[OPT_JSON].given) {
        print_json(c, f, n);
        return ST_OK;
    }
    for (int i = 0; i < n; i++) {
        printf("%-8s %-3s %s\n", f[i].name, f[i].ok ? "ok" : "no", f[i].text);
    }
    return ST_OK;
}
