/* Runs of several replicas (struct graph): where each begins, what it saves, and which have stopped.
 *
 * Initial values come from the graph of one copy, run on the host with the seed of each replica, so they are
 * those of a run of its own to the bit. Its plan and image stay: a replica is saved through them as any run
 * is, so its file is an ordinary file of weights.
 */
#include "runtime/checkpoint/checkpoint.h"
#include "runtime/run/internal.h"

/* -- between the image of all and that of one */

static void move(char *all, char *one, uint64_t bytes, bool out)
{
    memcpy(out ? one : all, out ? all : one, bytes);
}
/* Parameters and, unless `parameters`, states of replica i; what data phases fit is the same for all. */
static void move_replica(struct run *r, uint32_t i, bool out, bool parameters)
{
    struct run *one = r->one;
    const struct graph *g = one->graph;
    for (uint32_t t = 0; t < g->trees.n; t++) {
        uint64_t bytes = one->plan->tree_bytes[t];
        move(r->image + r->plan->tree_offset[t] + i * bytes, one->image + one->plan->tree_offset[t], bytes,
             out);
    }
    for (uint32_t v = 1; v < g->vars.n; v++) {
        bool fitted = var_is_shared(&g->vars.at[v]);
        if (g->vars.at[v].kind == VAR_STATE && (fitted || !parameters)) {
            uint64_t bytes = one->plan->var[v].bytes;
            move(r->image + r->plan->var[v].offset + (fitted ? 0 : i * bytes),
                 one->image + one->plan->var[v].offset, bytes, out);
        }
    }
}

/* -- the beginning */

static void fill_lists(struct run *r)
{
    for (uint32_t c = 0; c < r->graph->configs.n; c++) {
        const struct config *x = &r->graph->configs.at[c];
        uint32_t v = x->values ? graph_find_var(r->graph, arena_printf(r->arena, "set.%s", x->name)) : 0;
        for (uint32_t i = 0; v && i < r->graph->replicas; i++) {
            number_put(r->image + r->plan->var[v].offset, r->graph->vars.at[v].type.dtype, i, x->values[i]);
        }
    }
}
enum status replicas_fill(struct run *r)
{
    struct run *one = r->one;
    one->image_bytes = mem_size(one->plan->bytes + PLAN_ALIGN, 1);
    one->image_block = mem_alloc(one->image_bytes);
    one->image = image_start(one->image_block);
    for (uint32_t i = 0; i < r->graph->replicas; i++) {
        TRY(image_initial(one, r->o->seed + i));
        move_replica(r, i, false, false);
    }
    fill_lists(r);
    r->running_var = graph_find_var(r->graph, "replicas.running");
    r->running = arena_array(r->arena, bool, r->graph->replicas);
    memset(r->running, 1, r->graph->replicas * sizeof *r->running);
    if (r->running_var) {
        memset(r->image + r->plan->var[r->running_var].offset, 1, r->graph->replicas);
    }
    return ST_OK;
}

/* -- saving */

/* "ckpt/best.safetensors" of replica 3: "ckpt/best.3.safetensors". */
static const char *file_of(struct run *r, const char *path, uint32_t i)
{
    static const char ending[] = ".safetensors";
    size_t n = strlen(path), e = sizeof ending - 1;
    n -= n > e && strcmp(path + n - e, ending) == 0 ? e : 0;
    return arena_printf(r->arena, "%.*s.%u%s", (int)n, path, i, ending);
}
enum status replicas_save(struct run *r, const char *path, const bool *which)
{
    for (uint32_t v = 1; v < r->one->graph->vars.n; v++) {
        const struct plan_var *p = &r->plan->var[v];
        if (r->one->graph->vars.at[v].kind == VAR_STATE && r->one->graph->vars.at[v].data) {
            TRY(download(r, p->offset, p->bytes));
        }
    }
    for (uint32_t i = 0; i < r->graph->replicas; i++) {
        if (!which || which[i]) {
            move_replica(r, i, true, true);
            TRY(weights_save(r->one->plan, r->one->image, file_of(r, path, i), r->sink));
        }
    }
    return ST_OK;
}

/* -- `stop when` */

enum status replicas_run_on(struct run *r, const bool *running)
{
    if (!r->running_var || memcmp(r->running, running, r->graph->replicas * sizeof *running) == 0) {
        return ST_OK;
    }
    uint64_t at = r->plan->var[r->running_var].offset;
    memcpy(r->running, running, r->graph->replicas * sizeof *running);
    for (uint32_t i = 0; i < r->graph->replicas; i++) {
        r->image[at + i] = running[i];
    }
    TRY(settle(r)); /* launches so far are those of the replicas that ran then */
    enum status st = r->backend->upload(r->exec, at, r->image + at, r->graph->replicas);
    return st == ST_OK ? ST_OK : device_failed(r, st);
}
