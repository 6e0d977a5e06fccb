/* The option and command tables of gmlrun, and their meaning for a run. */
#include <stdlib.h>
#include <string.h>
#include "tools/common_program.h"
#include "tools/gmlrun.h"

/* Commands that compile or load a model; that also read its data; that also run it. */
#define MODELS "train eval predict summary bench profile gradcheck compare config dump"
#define PLANS  "train eval predict summary bench profile gradcheck compare dump"
#define RUNS   "train eval predict bench profile gradcheck compare"

static const struct option_spec table[] = {
    [OPT_DEVICE] = {"device", 0, OPTION_TEXT, "cpu|cuda[:N]",
                    "where to run; default cuda where a GPU works, else cpu",
                    "train eval predict bench profile compare"},
    [OPT_SET] = {"set", 0, OPTION_PAIRS, "NAME=VALUE", "change a config of the model; may be repeated",
                 MODELS},
    [OPT_DATA] = {"data", 0, OPTION_PAIRS, "NAME=FILE", "another file for a data set; may be repeated",
                  PLANS},
    [OPT_STEPS] = {"steps", 0, OPTION_INT, "N", "end after N training steps; compare: default 20",
                   "train compare"},
    [OPT_SEED] = {"seed", 0, OPTION_INT, "S", "seed of every random draw; default 1", RUNS},
    [OPT_THREADS] = {"threads", 0, OPTION_INT, "N", "threads of the CPU; default all cores", RUNS},
    [OPT_PRECISION] = {"precision", 0, OPTION_CHOICE, "f32|tf32|bf16|f64",
                       "arithmetic: products with 10 or 8 bits, all of it in 64; f64 on the CPU; default f32",
                       "train eval predict summary bench profile compare dump"},
    [OPT_OUT] = {"out", 'o', OPTION_TEXT, "PATH",
                 "train: run folder, default runs/<model>-<n>; predict, dump: file, default standard output",
                 "train predict dump"},
    [OPT_WEIGHTS] = {"weights", 0, OPTION_TEXT, "FILE", "start from these weights (.safetensors)", RUNS},
    [OPT_PHASE] = {"phase", 0, OPTION_TEXT, "P",
                   "phase to run alone; default: train the run block, eval `eval`, predict `predict`", RUNS},
    [OPT_JSON] = {"json", 0, OPTION_FLAG, NULL, "result as one JSON line",
                  "train eval summary bench profile doctor gradcheck compare config inspect"},
    [OPT_QUIET] = {"quiet", 'q', OPTION_FLAG, NULL, "no progress", "train eval predict bench"},
    [OPT_LOG_EVERY] = {"log-every", 0, OPTION_INT, "N",
                       "a line of metrics every N steps; default 1/200 of the run", "train"},
    [OPT_INCLUDE] = {"include", 'I', OPTION_MANY, "DIR", "look for imports here too; may be repeated",
                     MODELS},
    [OPT_MAX_SKIPS] = {"max-skips", 0, OPTION_INT, "N",
                       "end after N steps in a row without finite gradients; default 8", "train"},
    [OPT_DEBUG_PLAN] = {"debug-plan", 0, OPTION_FLAG, NULL, "no memory reuse, poison and red zones; slow",
                        "train eval predict"},
    [OPT_PARTS] = {"parts", 0, OPTION_FLAG, NULL, "time forward, loss, backward and optimizer apart",
                   "train bench"},
    [OPT_NO_FUSE] = {"no-fuse", 0, OPTION_FLAG, NULL, "one launch for each operator",
                     "train eval predict bench profile dump"},
    [OPT_CUDA_PATH] = {"cuda-path", 0, OPTION_TEXT, "DIR", "folder of the CUDA libraries",
                       "train eval predict bench profile compare doctor"},
    [OPT_CACHE] = {"cache", 0, OPTION_TEXT, "DIR|none",
                   "folder of compiled GPU kernels; default $XDG_CACHE_HOME/gml or ~/.cache/gml",
                   "train eval predict bench profile compare"},
    [OPT_SAMPLES] = {"samples", 0, OPTION_INT, "N", "elements of each parameter to check; default 8",
                     "gradcheck"},
    [OPT_AGAINST] = {"against", 0, OPTION_TEXT, "cpu-f64|cpu-f32|cuda[:N]",
                     "the other side of a comparison; default cpu-f64", "compare"},
    [OPT_TOLERANCE] = {"tolerance", 0, OPTION_REAL, "X",
                       "relative difference of losses that is allowed; default 0.001, tf32 0.005, bf16 0.05",
                       "compare"},
    [OPT_MAP] = {"map", 0, OPTION_PAIRS, "OLD=NEW",
                 "rename tensors of the weights file, `*` = any text; may be repeated", RUNS},
    [OPT_ALLOW_NONFINITE] = {"allow-nonfinite", 0, OPTION_FLAG, NULL,
                             "load weights that hold NaN or infinity", RUNS},
    [OPT_OUTPUT] = {"output", 0, OPTION_MANY, "NAME", "only this output of the phase; may be repeated",
                    "predict"},
    [OPT_OVERRIDE] = {"override", 0, OPTION_PAIRS, "NAME=FILE",
                      "a named draw from a file, as in train.eps=eps.npy; may be repeated", RUNS},
    [OPT_STAGE] = {"stage", 0, OPTION_CHOICE, "graph|plan", "what to dump; default graph", "dump"},
    [OPT_TARGET] = {"target", 0, OPTION_CHOICE, "cpu|h200", "plan for this device; default cpu", "dump"},
    [OPT_STEPS_PER_LAUNCH] = {"steps-per-launch", 0, OPTION_INT, "K",
                              "steps in one launch of the device, at most; same results; default: on a GPU "
                              "as many as take about 10 ms, else 1",
                              "train"},
    [OPT_REPLICAS] = {"replicas", 0, OPTION_INT, "R",
                      "train R copies at once, with seeds S, S+1, ..; --set NAME=A,B,.. gives each its value",
                      "train summary bench dump"},
    [OPT_AUDIT] = {"audit", 0, OPTION_FLAG, NULL,
                   "count what the host asks of the device while the training runs", "train"},
    [OPT_TRACE] = {"trace", 0, OPTION_TEXT, "FILE", "also as a trace for chrome://tracing and Perfetto",
                   "profile"},
    [OPT_LATER] = {"gpus", 0, OPTION_INT, "N", "comes later", NULL},
    {"verify-every", 0, OPTION_INT, "N", "comes later", NULL},
};

static const struct command_spec commands[] = {
    {"train", "MODEL", 1, 1, "execute the run block; writes a run folder"},
    {"eval", "MODEL", 1, 1, "metrics of a phase over all its rows, with --weights FILE"},
    {"predict", "MODEL", 1, 1, "outputs of a phase for every row, with --weights FILE"},
    {"summary", "MODEL", 1, 1, "parameters, phases and memory"},
    {"config", "MODEL", 1, 1, "the configs: type, default, value and meaning"},
    {"dump", "MODEL", 1, 1, "graph or plan as JSON"},
    {"inspect", "PATH", 1, 1, "what is in a run folder, a .gmlb file, weights or data"},
    {"bench", "MODEL", 1, 1, "time of a step, its launches, bytes and memory, time to the first step"},
    {"profile", "MODEL", 1, 1, "time, bytes and arithmetic of every launch of a step"},
    {"gradcheck", "MODEL", 1, 1, "gradients against finite differences, in f64 on the CPU"},
    {"compare", "MODEL", 1, 1, "the same steps on two devices or precisions: where do they differ?"},
    {"doctor", NULL, 0, 0, "what this machine offers and what is missing"},
    {"resume", "DIR", 0, 99, "comes later"},
    {"tune", "MODEL", 0, 99, "comes later"},
    {"report", "DIR...", 0, 99, "comes later"},
    {"plot", "DIR... METRIC", 0, 99, "comes later"},
};
enum { N_OPTIONS = sizeof table / sizeof *table, N_COMMANDS = sizeof commands / sizeof *commands };

const struct program_spec gmlrun_spec = {
    "gmlrun",
    "trains and runs gml models",
    commands,
    N_COMMANDS,
    table,
    N_OPTIONS,
    "  gmlrun train models/digits.gml --set lr=3e-4 --out runs/first\n"
    "  gmlrun eval models/digits.gml --weights runs/first/weights.safetensors\n",
};

static enum status refuse_later(struct call *c)
{
    if (strcmp(c->o.command->help, "comes later") == 0) {
        return diag_emit(&c->sink, DIAG_U0006, NO_SPAN,
                         "`gmlrun %s` comes later: this version does not have it", c->o.command->name);
    }
    for (uint32_t i = OPT_LATER; i < N_OPTIONS; i++) {
        if (c->o.at[i].given) {
            return diag_emit(&c->sink, DIAG_U0006, NO_SPAN,
                             "`--%s` comes later: this version does not have it", table[i].name);
        }
    }
    return ST_OK;
}

bool is_device(const char *d)
{
    if (strcmp(d, "cpu") == 0 || strcmp(d, "cuda") == 0) {
        return true;
    }
    bool numbered = strncmp(d, "cuda:", 5) == 0 && d[5] && strlen(d) < 9;
    return numbered && strspn(d + 5, "0123456789") == strlen(d + 5);
}

static enum status device_option(struct call *c)
{
    const struct option_value *v = c->o.at;
    bool f64 = call_is_f64(c);
    c->run.device = v[OPT_DEVICE].text;
    if (c->run.device && !is_device(c->run.device)) {
        return diag_emit(&c->sink, DIAG_U0003, NO_SPAN, "`--device` takes cpu, cuda or cuda:N, not `%s`",
                         c->run.device);
    }
    if (f64 && c->run.device && strcmp(c->run.device, "cpu") != 0) {
        return diag_emit(&c->sink, DIAG_U0003, NO_SPAN, "`--precision f64` runs on the CPU, not on %s",
                         c->run.device);
    }
    c->run.device = f64 ? "cpu" : c->run.device;
    return ST_OK;
}

/* `1e-3,3e-4`: commas outside of brackets and quotes. The first value; all of them in the list. */
static const char *first_of_list(struct arena *a, const char *text, struct replica_list *list)
{
    int depth = 0;
    bool quoted = false;
    list->value = arena_array(a, const char *, strlen(text) + 1);
    for (const char *p = text, *from = text;; p++) {
        quoted ^= *p == '"';
        depth += !quoted && *p == '[' ? 1 : !quoted && *p == ']' ? -1 : 0;
        if (!*p || (*p == ',' && !quoted && depth == 0)) {
            list->value[list->n++] = arena_strndup(a, from, (size_t)(p - from));
            from = p + 1;
        }
        if (!*p) {
            return list->value[0];
        }
    }
}

static void pair_options(struct call *c)
{
    const struct option_value *data = &c->o.at[OPT_DATA], *set = &c->o.at[OPT_SET], *map = &c->o.at[OPT_MAP];
    struct weight_map *m = arena_array(c->arena, struct weight_map, map->many.n);
    struct data_override *d = arena_array(c->arena, struct data_override, data->many.n);
    struct run_set *s = arena_array(c->arena, struct run_set, set->many.n);
    for (uint32_t i = 0; i < data->many.n; i++) {
        d[i] = (struct data_override){data->many.at[i], data->values.at[i]};
    }
    c->lists = arena_array(c->arena, struct replica_list, set->many.n);
    for (uint32_t i = 0; i < set->many.n; i++) {
        struct replica_list list = {.name = set->many.at[i]};
        s[i] = (struct run_set){list.name, first_of_list(c->arena, set->values.at[i], &list)};
        if (list.n > 1) {
            c->lists[c->n_lists++] = list;
        }
    }
    for (uint32_t i = 0; i < map->many.n; i++) {
        m[i] = (struct weight_map){map->many.at[i], map->values.at[i]};
    }
    const struct option_value *draws = &c->o.at[OPT_OVERRIDE];
    struct data_override *o = arena_array(c->arena, struct data_override, draws->many.n);
    for (uint32_t i = 0; i < draws->many.n; i++) {
        o[i] = (struct data_override){draws->many.at[i], draws->values.at[i]};
    }
    c->run.override = o;
    c->run.n_override = draws->many.n;
    c->run.map = m;
    c->run.n_map = map->many.n;
    c->run.data = d;
    c->run.n_data = data->many.n;
    c->run.set = s;
    c->run.n_set = set->many.n;
}

static int64_t number(const struct call *c, int option, int64_t otherwise)
{
    return c->o.at[option].given ? c->o.at[option].number : otherwise;
}

static enum status steps_per_launch_option(struct call *c)
{
    const struct option_value *v = c->o.at;
    c->run.steps_per_launch = number(c, OPT_STEPS_PER_LAUNCH, 1);
    if (c->run.steps_per_launch < 1 || c->run.steps_per_launch > LAUNCH_TICKS) {
        return diag_emit(&c->sink, DIAG_U0003, NO_SPAN, "`--steps-per-launch` takes 1 .. %d", LAUNCH_TICKS);
    }
    if (c->run.steps_per_launch > 1 && (v[OPT_PARTS].given || v[OPT_DEBUG_PLAN].given)) {
        return diag_emit(&c->sink, DIAG_U0003, NO_SPAN,
                         "`--%s` looks at each step by itself: it does not go with `--steps-per-launch`",
                         v[OPT_PARTS].given ? "parts" : "debug-plan");
    }
    if (!v[OPT_STEPS_PER_LAUNCH].given && strcmp(c->o.command->name, "train") == 0) {
        c->run.steps_per_launch = 0; /* as suits the device */
    }
    return ST_OK;
}

static enum status replicas_option(struct call *c)
{
    int64_t n = number(c, OPT_REPLICAS, 0);
    if (c->o.at[OPT_REPLICAS].given && (n < 1 || n > LIMIT_REPLICAS)) {
        return diag_emit(&c->sink, DIAG_U0003, NO_SPAN, "`--replicas` takes 1 .. %d", LIMIT_REPLICAS);
    }
    c->replicas = (uint32_t)n;
    for (uint32_t i = 0; i < c->n_lists; i++) {
        const struct replica_list *l = &c->lists[i];
        if (l->n != c->replicas) {
            enum status st =
                diag_emit(&c->sink, DIAG_U0003, NO_SPAN, "`--set %s` has %u values for %u replica%s", l->name,
                          l->n, c->replicas ? c->replicas : 1, c->replicas > 1 ? "s" : "");
            diag_help(
                &c->sink,
                "--replicas %u gives each its own; a list that is the value of one config stands in [ ]",
                l->n);
            return st;
        }
    }
    return ST_OK;
}

enum status call_options(struct call *c)
{
    const struct option_value *v = c->o.at;
    TRY(refuse_later(c));
    TRY(device_option(c));
    pair_options(c);
    static const int above_zero[] = {OPT_MAX_SKIPS, OPT_LOG_EVERY, OPT_SAMPLES};
    for (size_t i = 0; i < sizeof above_zero / sizeof *above_zero; i++) {
        if (number(c, above_zero[i], 1) < 1) {
            return diag_emit(&c->sink, DIAG_U0003, NO_SPAN, "`--%s` takes a whole number above 0",
                             table[above_zero[i]].name);
        }
    }
    if (number(c, OPT_THREADS, 1) > 1024 || number(c, OPT_THREADS, 1) < 1) {
        return diag_emit(&c->sink, DIAG_U0003, NO_SPAN, "`--threads` takes 1 .. 1024");
    }
    TRY(steps_per_launch_option(c));
    TRY(replicas_option(c));
    c->run.folder = c->o.args.n ? folder_of(c->arena, c->o.args.at[0]) : "";
    c->run.command = c->command;
    c->run.version = GML_VERSION;
    c->run.steps = number(c, OPT_STEPS, -1);
    c->run.seed = (uint64_t)number(c, OPT_SEED, 1);
    c->run.threads = (int)number(c, OPT_THREADS, 0);
    c->run.out = v[OPT_OUT].text;
    c->run.weights = v[OPT_WEIGHTS].text;
    c->run.allow_nonfinite = v[OPT_ALLOW_NONFINITE].given;
    c->run.phase = v[OPT_PHASE].text;
    c->run.precision = v[OPT_PRECISION].given ? v[OPT_PRECISION].text : "f32";
    c->run.log_every = number(c, OPT_LOG_EVERY, 0);
    c->run.max_skips = number(c, OPT_MAX_SKIPS, LIMIT_SKIPS_IN_ROW);
    c->run.cuda_path = v[OPT_CUDA_PATH].text;
    c->run.cache = v[OPT_CACHE].text;
    c->run.quiet = v[OPT_QUIET].given;
    c->run.debug_plan = v[OPT_DEBUG_PLAN].given;
    c->run.parts = v[OPT_PARTS].given;
    c->run.no_fuse = v[OPT_NO_FUSE].given;
    c->run.audit = v[OPT_AUDIT].given;
    c->run.progress = stderr;
    c->run.is_terminal = options_terminal(stderr);
    c->run.color = options_color(stderr);
    return ST_OK;
}
