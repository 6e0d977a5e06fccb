/* --audit: what the host asks of the device while a run goes on by itself. The window is the training, from
 * its first launch to its last; what a save, an expression of `run` that reads states, or the wait before
 * them asks for is left out (audit_pause). Copies and host nodes inside of launched graphs count for every
 * launch, whichever graph holds them: a number that is too large is a failure, too. */
#include "runtime/run/internal.h"

void audit_begin(struct run *r)
{
    struct audit *a = &r->audit;
    struct exec_counts ignored;
    if (r->o->audit) {
        *a = (struct audit){.on = true, .ticks = r->seen};
        r->backend->counts(r->exec, &ignored, true);
    }
}

void audit_pause(struct run *r)
{
    struct audit *a = &r->audit;
    struct exec_counts n, *sum = &a->sum;
    if (!a->on || a->paused++) {
        return;
    }
    r->backend->counts(r->exec, &n, true);
    sum->launches += n.launches;
    sum->bytes_h2d += n.bytes_h2d;
    sum->bytes_d2h += n.bytes_d2h;
    sum->syncs += n.syncs;
    sum->allocations += n.allocations;
    sum->graph_updates += n.graph_updates;
    sum->walk = n.walk;
    sum->source = n.source;
}

void audit_resume(struct run *r)
{
    struct exec_counts ignored;
    if (r->audit.on && --r->audit.paused == 0) {
        r->backend->counts(r->exec, &ignored, true);
    }
}

void audit_end(struct run *r, struct audit_summary *out)
{
    struct audit *a = &r->audit;
    audit_pause(r);
    a->on = false;
    const struct exec_counts *n = &a->sum;
    uint64_t ticks = r->seen - a->ticks;
    *out = (struct audit_summary){.launches_per_step = ticks ? (double)n->launches / (double)ticks : 0,
                                  .bytes_d2h = n->bytes_d2h + n->launches * n->walk.bytes_d2h,
                                  .bytes_h2d = n->bytes_h2d + n->launches * n->walk.bytes_h2d,
                                  .syncs = n->syncs + n->launches * n->walk.host,
                                  .allocations = n->allocations + n->launches * n->walk.memory,
                                  .graph_updates = n->graph_updates,
                                  .source = n->source ? n->source : r->backend->name,
                                  .graphs = n->walk.graphs,
                                  .kernels = n->walk.kernels,
                                  .copies = n->walk.copies,
                                  .host_nodes = n->walk.host,
                                  .memory_nodes = n->walk.memory};
}
