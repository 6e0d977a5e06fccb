/* Small facts about groups. */
#include "runtime/plan/group.h"

static int64_t product(const struct group *g, int from, int end)
{
    int64_t n = 1;
    for (int i = from; i < end; i++) {
        n *= g->dim[i];
    }
    return n;
}

int64_t group_points(const struct group *g)
{
    return product(g, 0, g->rank);
}

int64_t group_rows(const struct group *g)
{
    return product(g, 0, g->outer);
}

int64_t group_inside(const struct group *g)
{
    return product(g, g->outer, g->rank);
}

bool group_goes_on(const struct group *g)
{
    for (uint16_t i = 0; i < g->n_instr; i++) {
        for (uint8_t k = 0; k < g->instr[i].n_in; k++) {
            if (g->instr[g->instr[i].in[k]].kind == GROUP_REDUCE) {
                return true;
            }
        }
    }
    return false;
}

static const char *const stop[STOP_COUNT][2] = {
    [STOP_NONE] = {"none", "it is no group"},
#define GROUP_STOP(name, text) [STOP_##name] = {#name, text},
#include "runtime/plan/group_stop.def"
#undef GROUP_STOP
};

const char *group_stop_name(enum group_stop s)
{
    return s < STOP_COUNT ? stop[s][0] : "?";
}

const char *group_stop_text(enum group_stop s)
{
    return s < STOP_COUNT ? stop[s][1] : "?";
}
