/* The kernel of groups (runtime/plan/group.h): how tiles are cut, where values lie, which are made when.
 *
 * A row that fits a tile is walked once. A longer one is walked once for each level of its reductions: pass L
 * makes what reductions of level L need (again, if need be) and what is stored there. Long reductions that
 * nothing follows are cut into chunks, a unit each, as those of reduce.c are; their partial results lie in
 * k->work.
 */
#include "kernels/cpu/group.h"

/* -- classes, levels, passes */

static bool moves(const struct operand *o, const struct group *g)
{
    for (int i = 0; i < g->rank; i++) {
        if (g->dim[i] > 1 && o->stride[i]) {
            return true;
        }
    }
    return false;
}

static enum group_class class_of(const struct group_run *r, int i)
{
    const struct group_instr *x = &r->g->instr[i];
    bool uniform = x->kind != GROUP_REDUCE && x->kind != GROUP_INDEX &&
                   !(x->kind == GROUP_LOAD && moves(&r->k->in[x->operand], r->g));
    for (int k = 0; k < x->n_in; k++) {
        uniform = uniform && r->value[x->in[k]].class == CLASS_UNIFORM;
    }
    if (r->g->outer < r->g->rank) {
        return !x->row ? CLASS_FULL : uniform ? CLASS_UNIFORM : CLASS_ROW;
    }
    return uniform ? CLASS_UNIFORM : CLASS_FULL;
}

static iter_fn elem_run_at(const struct group *g, const struct group_instr *x)
{
    enum dtype t[3] = {DT_NONE};
    for (int k = 0; k < x->n_in; k++) {
        t[k] = work_type((enum dtype)g->instr[x->in[k]].dtype);
    }
    return x->kind == GROUP_ELEM ? elem_run_for((enum op)x->op, t, work_type((enum dtype)x->dtype)) : NULL;
}

static void classify(struct group_run *r)
{
    for (int i = 0; i < r->g->n_instr; i++) {
        const struct group_instr *x = &r->g->instr[i];
        struct value *v = &r->value[i];
        *v = (struct value){.slot = -1, .forward = -1, .last = (int16_t)i};
        v->class = class_of(r, i);
        v->size = (int64_t)dtype_size(work_type((enum dtype)x->dtype));
        for (int k = 0; k < x->n_in; k++) {
            struct value *in = &r->value[x->in[k]];
            int16_t level = (int16_t)(in->level + (r->g->instr[x->in[k]].kind == GROUP_REDUCE));
            v->level = v->level > level ? v->level : level;
            in->last = (int16_t)i;
        }
        v->run = elem_run_at(r->g, x);
        v->reduction = (int16_t)(x->kind == GROUP_REDUCE ? r->n_reduction++ : 0);
        r->levels = v->level + 1 > r->levels ? v->level + 1 : r->levels;
    }
}

/* Which full values each pass makes: those that its reductions and stores need. */
static void find_passes(struct group_run *r)
{
    for (int i = 0; i < r->g->n_store; i++) {
        struct value *v = &r->value[r->g->store[i].value];
        v->last = (int16_t)r->g->n_instr;
        v->passes |= 1u << v->level;
    }
    for (int i = r->g->n_instr; i-- > 0;) {
        const struct group_instr *x = &r->g->instr[i];
        struct value *v = &r->value[i];
        v->passes |= x->kind == GROUP_REDUCE || x->kind == GROUP_CHECK ? 1u << v->level : 0;
        for (int k = 0; k < x->n_in; k++) {
            struct value *in = &r->value[x->in[k]];
            in->passes |= in->class == CLASS_FULL && x->kind != GROUP_REDUCE ? v->passes : 0;
            in->passes |= in->class == CLASS_FULL && x->kind == GROUP_REDUCE ? 1u << v->level : 0;
        }
        r->passes |= v->class == CLASS_FULL ? v->passes : 0;
    }
}

/* -- ways */

/* Whether the last axis of rows is the one adjacent in memory: of more operands of full values than the
 * inside.
 */
static bool side_by_side(const struct group_run *r)
{
    const struct group *g = r->g;
    int columns = 0, rows = 0;
    if (g->outer == 0 || g->outer == g->rank || g->dim[g->outer - 1] < 4) {
        return false;
    }
    for (int i = 0; i < r->k->n_in + r->k->n_out; i++) {
        const struct operand *o = i < r->k->n_in ? &r->k->in[i] : &r->k->out[i - r->k->n_in];
        if (o->rank != g->rank || o->dtype == DT_NONE) {
            continue;
        }
        bool inside = false;
        for (int a = g->outer; a < g->rank; a++) {
            inside |= o->stride[a] != 0 && o->dim[a] > 1;
        }
        columns += inside && o->stride[g->outer - 1] == 1;
        rows += inside && o->stride[g->rank - 1] == 1;
    }
    return columns > rows;
}

static bool overlap(const struct operand *x, const struct operand *y)
{
    uint64_t end[2], size[2] = {dtype_size((enum dtype)x->dtype), dtype_size((enum dtype)y->dtype)};
    const struct operand *o[] = {x, y};
    for (int i = 0; i < 2; i++) {
        end[i] = o[i]->offset + size[i];
        for (int a = 0; a < o[i]->rank; a++) {
            end[i] += (uint64_t)(o[i]->stride[a] > 0 ? (o[i]->dim[a] - 1) * o[i]->stride[a] : 0) * size[i];
        }
    }
    return x->offset < end[1] && y->offset < end[0];
}

static bool writes_over_loads(const struct kargs *k)
{
    for (int i = 0; i < k->n_in; i++) {
        for (int o = 0; o < k->n_out && k->in[i].dtype != DT_NONE; o++) {
            if (overlap(&k->in[i], &k->out[o])) {
                return true;
            }
        }
    }
    return false;
}

/* Whether all points (or rows) lie behind each other. */
static bool adjacent(const struct operand *o, const struct group *g, int rank)
{
    int64_t want = 1;
    for (int i = rank - 1; i >= 0; i--) {
        if (g->dim[i] != 1 && (o->dim[i] != g->dim[i] || o->stride[i] != want)) {
            return false;
        }
        want *= g->dim[i];
    }
    return o->dtype != DT_BF16;
}

static bool is_tall(const struct group_run *r)
{
    return r->way == WAY_COLUMNS || r->way == WAY_LONG_COLUMNS;
}
/* Whether the points of a tile lie behind each other. */
static bool in_tiles(const struct group_run *r, const struct operand *o)
{
    const struct group *g = r->g;
    if (!is_tall(r)) {
        return adjacent(o, g, g->rank);
    }
    int64_t side = g->dim[g->outer - 1];
    return r->whole && g->rank == g->outer + 1 && o->dim[g->outer] == g->dim[g->outer] &&
           o->dim[g->outer - 1] == side && o->stride[g->outer] == side && o->stride[g->outer - 1] == 1 &&
           o->dtype != DT_BF16;
}

/* Whether value i may be made where store s puts it: no load of these bytes is needed from then on. */
static bool may_forward(const struct group_run *r, int i, const struct group_store *s)
{
    const struct operand *o = &r->k->out[s->operand];
    for (int k = 0; k < r->g->n_instr && r->in_place; k++) {
        const struct group_instr *x = &r->g->instr[k];
        if (x->kind == GROUP_LOAD && overlap(&r->k->in[x->operand], o) && (k > i || r->value[k].last > i)) {
            return false;
        }
    }
    return in_tiles(r, o);
}

static void find_in_memory(struct group_run *r)
{
    for (int i = 0; i < r->g->n_instr; i++) {
        const struct group_instr *x = &r->g->instr[i];
        r->value[i].forward = -1;
        r->value[i].in_memory = x->kind == GROUP_LOAD && !x->n_in && r->value[i].class == CLASS_FULL &&
                                in_tiles(r, &r->k->in[x->operand]);
    }
    for (int i = 0; i < r->g->n_store; i++) {
        const struct group_store *s = &r->g->store[i];
        struct value *v = &r->value[s->value];
        if (r->g->instr[s->value].kind == GROUP_LOAD) {
            v->in_memory = v->in_memory && !r->in_place;
        } else if (v->class == CLASS_FULL && v->forward < 0 && may_forward(r, s->value, s)) {
            v->forward = s->operand;
        }
    }
}

/* A place in scratch memory for each value, free again behind the last instruction that needs it. Values of
 * rows keep theirs. The first three slots are for spreading. Loads
 * that repeat keep theirs from tile to tile. */
static void give_slots(struct group_run *r)
{
    bool busy[GROUP_MAX_INSTR + 3] = {true, true, true};
    r->n_full = 3;
    r->n_row = 0;
    for (int i = 0; i < r->g->n_instr; i++) {
        struct value *v = &r->value[i];
        if (v->class == CLASS_ROW) {
            v->slot = r->n_row++;
        } else if (v->class == CLASS_FULL && !v->in_memory && v->forward < 0) {
            int at = v->period ? r->n_full : 3; /* one that nobody had before */
            while (busy[at]) {
                at++;
            }
            v->slot = at;
            busy[at] = true;
            r->n_full = at + 1 > r->n_full ? at + 1 : r->n_full;
        }
        for (int k = 0; k < r->g->instr[i].n_in; k++) {
            const struct value *in = &r->value[r->g->instr[i].in[k]];
            if (in->class == CLASS_FULL && in->slot >= 0 && in->last == i && !in->period) {
                busy[in->slot] = false;
            }
        }
    }
}

static void make_walk(struct iter *walk, const struct operand *o, const struct group *g, int rank, bool out)
{
    struct operand near = {.rank = (uint8_t)rank, .dtype = (uint8_t)work_type((enum dtype)o->dtype)},
                   far = *o;
    int64_t step = 1;
    far.rank = (uint8_t)rank;
    memcpy(near.dim, g->dim, sizeof near.dim);
    for (int i = rank - 1; i >= 0; i--) {
        near.stride[i] = step;
        step *= g->dim[i];
    }
    const struct operand *both[] = {out ? &far : &near, out ? &near : &far};
    memcpy(far.dim, g->dim, sizeof far.dim);
    iter_make(walk, both, 2);
    walk->narrow = o->dtype == DT_BF16 ? 1u << !out : 0;
}

static void make_walks(struct group_run *r)
{
    for (int i = 0; i < r->g->n_instr; i++) {
        struct value *v = &r->value[i];
        if (r->g->instr[i].kind == GROUP_LOAD && !r->g->instr[i].n_in && v->class != CLASS_UNIFORM) {
            make_walk(&v->walk, &r->k->in[r->g->instr[i].operand], r->g,
                      v->class == CLASS_ROW ? r->g->outer : r->g->rank, false);
            int64_t period =
                v->walk.rank > 1 && v->walk.stride[0][1] == 0 ? v->walk.count / v->walk.dim[0] : 0;
            v->period = v->class == CLASS_FULL && !is_tall(r) && period <= GROUP_TILE / 2 ? period : 0;
        }
    }
    for (int i = 0; i < r->g->n_store; i++) {
        const struct group_store *s = &r->g->store[i];
        make_walk(&r->store[s->operand], &r->k->out[s->operand], r->g,
                  r->value[s->value].class == CLASS_ROW ? r->g->outer : r->g->rank, true);
    }
}

/* -- tiles and units */

/* Points that the cache holds for all values at once. */
static int64_t tile_points(struct group_run *r, int64_t least, int64_t most)
{
    int64_t size = 4;
    for (int i = 0; i < r->g->n_instr; i++) {
        size = r->value[i].class == CLASS_FULL ? max_i64(size, r->value[i].size) : size;
    }
    int64_t fit = GROUP_CACHE / (size * r->n_full),
            room = (GROUP_ROOM - (GROUP_ROOM >> 2)) / (size * r->n_full);
    int64_t n = max_i64(least, min_i64(most, fit / 64 * 64));
    n = min_i64(n, room / 64 * 64);
    r->full_bytes = n * size;
    return n;
}

static void cut_rows(struct group_run *r)
{
    r->tile = tile_points(r, ROW_BLOCK, GROUP_TILE);
    if (r->inside <= r->tile ||
        (r->inside <= GROUP_ROW_MAX && tile_points(r, r->inside, r->inside) >= r->inside)) {
        r->way = WAY_ROWS;
        r->tile = max_i64(r->tile, r->inside);
        r->per_unit = rows_per_unit(r->inside);
        r->units = div_up(r->rows, r->per_unit);
        r->chunk = r->inside;
        r->chunks = 1;
        return;
    }
    r->way = WAY_LONG_ROWS;
    r->tile = tile_points(r, ROW_BLOCK, ROW_BLOCK);
    r->per_unit = 1;
    r->units = r->rows * r->chunks;
}

static void cut_columns(struct group_run *r)
{
    r->sides = r->g->dim[r->g->outer - 1];
    r->side = min_i64(r->sides, r->whole ? GROUP_SIDE : GROUP_NARROW);
    r->tile = tile_points(r, COLUMN_BLOCK * r->side, max_i64(GROUP_TILE, COLUMN_BLOCK * r->side));
    r->way = r->inside * r->side <= r->tile ? WAY_COLUMNS : WAY_LONG_COLUMNS;
    r->units = r->rows / r->sides * div_up(r->sides, r->side) * r->chunks;
}

static void find_chunks(struct group_run *r, bool columns)
{
    int64_t parts = r->n_reduction ? (int64_t)(r->k->work_bytes / 8) / (r->rows * r->n_reduction) : 0;
    int64_t width = columns ? min_i64(r->g->dim[r->g->outer - 1], r->whole ? GROUP_SIDE : GROUP_NARROW) : 1;
    r->chunk = r->inside;
    r->chunks = 1;
    if (parts >= 2 && r->rows / width < 16) {
        r->chunk = reduce_chunk(columns ? COLUMN_BLOCK : ROW_BLOCK, width, r->inside, parts);
        r->chunks = div_up(r->inside, r->chunk);
    }
}

static void cut(struct group_run *r, bool columns)
{
    if (r->g->outer == r->g->rank) {
        int64_t period = 1;
        for (int i = 0; i < r->g->n_instr; i++) {
            period = max_i64(period, r->value[i].period);
        }
        r->tile = tile_points(r, 256, GROUP_TILE);
        r->tile -= r->tile > period ? r->tile % period : 0;
        r->per_unit = UNIT_ELEMENTS;
        r->units = div_up(r->points, UNIT_ELEMENTS);
    } else if (columns) {
        cut_columns(r);
    } else {
        cut_rows(r);
    }
}

/* Whether the scratch memory holds blocks of all rows side by side, for values of points and of rows. */
static bool side_fits(const struct group_run *r)
{
    int64_t side = r->g->dim[r->g->outer - 1], room = GROUP_ROOM - (GROUP_ROOM >> 2);
    return 8 * COLUMN_BLOCK * side * r->n_full <= room && 8 * side * r->n_row <= GROUP_ROOM >> 2;
}

/* Everything that does not depend on the unit. */
static void prepare(struct group_run *r, const struct kargs *k)
{
    const struct group *g = k->group;
    r->k = k;
    r->g = g;
    r->levels = r->n_reduction = 0;
    r->side = 1;
    r->passes = 0;
    r->rows = group_rows(g);
    r->inside = group_inside(g);
    r->points = r->rows * r->inside;
    r->in_place = writes_over_loads(k);
    classify(r);
    find_passes(r);
    bool columns = side_by_side(r);
    r->way = g->outer == g->rank ? WAY_FLAT : columns ? WAY_COLUMNS : WAY_ROWS;
    r->whole = columns && g->dim[g->outer - 1] <= GROUP_SIDE;
    find_in_memory(r);
    make_walks(r);
    give_slots(r);
    if (r->whole && !side_fits(r)) {
        r->whole = false;
        find_in_memory(r);
        give_slots(r);
    }
    find_chunks(r, columns);
    cut(r, columns);
    bool is_long = r->way == WAY_LONG_ROWS || r->way == WAY_LONG_COLUMNS;
    if (is_long && r->levels > 1) { /* a value is made in several passes */
        for (int i = 0; i < g->n_instr; i++) {
            r->value[i].forward = -1;
        }
        give_slots(r);
        cut(r, columns);
    }
}

/* Values of rows have a quarter of the room. */
static int64_t rows_of_tile(const struct group_run *r)
{
    int64_t room = (GROUP_ROOM >> 2) / (8 * max_i64(1, r->n_row));
    return max_i64(1, min_i64(min_i64(GROUP_ROWS, room), r->tile / max_i64(1, r->inside)));
}

/* -- walking */

struct scratch {
    _Alignas(64) char room[GROUP_ROOM];
};
static void place_values(struct group_run *r, char *room, int64_t rows)
{
    char *full = room + ((r->n_row * rows * 8 + 63) & ~(int64_t)63);
    for (int i = 0; i < r->g->n_instr; i++) {
        const struct value *v = &r->value[i];
        struct live *l = &r->live[i];
        l->row = v->class == CLASS_ROW ? room + v->slot * rows * 8 : NULL;
        l->view.p = v->class == CLASS_FULL && v->slot >= 0 ? full + v->slot * r->full_bytes : NULL;
        l->n = 0;
    }
}
static char *spread_room(const struct group_run *r, char *room, int64_t rows)
{
    return room + ((r->n_row * rows * 8 + 63) & ~(int64_t)63);
}

/* All instructions, rows complete. */
static void tile_flat(struct group_run *r, const struct tile *t, char *spread)
{
    for (int i = 0; i < r->g->n_instr; i++) {
        if (r->value[i].class != CLASS_UNIFORM) {
            value_make(r, t, spread, i);
        }
    }
    for (int i = 0; i < r->g->n_store; i++) {
        value_store(r, t, &r->g->store[i]);
    }
}

static void flat_unit(struct group_run *r, int64_t unit, char *spread)
{
    int64_t end = min_i64(r->points, (unit + 1) * r->per_unit);
    for (int64_t at = unit * r->per_unit; at < end; at += r->tile) {
        struct tile t = {.lines = 1, .n = min_i64(r->tile, end - at), .at = at};
        tile_flat(r, &t, spread);
    }
}

/* A REDUCE whose rows lie whole in the tile. */
static void reduce_lines(struct group_run *r, const struct tile *t, int i)
{
    const struct group_instr *x = &r->g->instr[i];
    const struct value *v = &r->value[i];
    const struct reducer *f = reducer_of((enum op)x->op, work_type((enum dtype)r->g->instr[x->in[0]].dtype));
    struct view in = value_view(r, t, x->in[0]);
    double each[GROUP_ROWS];
    for (int64_t l = 0; l < t->lines && t->n <= ROW_BLOCK; l++) {
        f->block((char *)each + l * v->size, in.p + l * in.line, t->n);
    }
    if (t->n <= ROW_BLOCK) {
        f->finish(live_of(r, v)->row, each, t->lines, r->inside);
    }
    for (int64_t l = 0; l < t->lines && t->n > ROW_BLOCK; l++) {
        double acc[GROUP_DEPTH], leaf;
        struct counter c = {.acc = (char *)acc};
        for (int64_t at = 0; at < t->n; at += ROW_BLOCK) {
            f->block(&leaf, in.p + l * in.line + at * in.step, min_i64(ROW_BLOCK, t->n - at));
            counter_push(&c, f, 1, &leaf);
        }
        counter_close(&c, f, 1);
        f->finish(live_of(r, v)->row + l * v->size, acc, 1, r->inside);
    }
    if (x->dtype == DT_BF16) {
        round_bf16((float *)(void *)live_of(r, v)->row, t->lines);
    }
}

static void rows_unit(struct group_run *r, int64_t unit, char *spread)
{
    int64_t end = min_i64(r->rows, (unit + 1) * r->per_unit), per = rows_of_tile(r);
    for (int64_t row = unit * r->per_unit; row < end; row += per) {
        int64_t n = min_i64(per, end - row);
        struct tile t = {.lines = n, .n = r->inside, .row = row, .rows = n};
        for (int i = 0; i < r->g->n_instr; i++) {
            if (r->g->instr[i].kind == GROUP_REDUCE) {
                reduce_lines(r, &t, i);
            } else if (r->value[i].class != CLASS_UNIFORM) {
                value_make(r, &t, spread, i);
            }
        }
        for (int i = 0; i < r->g->n_store; i++) {
            value_store(r, &t, &r->g->store[i]);
        }
    }
}

/* Trees of the reductions of one pass, over tiles of one row or of rows side by side. */
struct trees {
    struct counter at[GROUP_MAX_REDUCE];
    double acc[GROUP_MAX_REDUCE][GROUP_DEPTH * GROUP_SIDE];
};

static void feed(struct group_run *r, const struct tile *t, struct counter *c, int i)
{
    const struct group_instr *x = &r->g->instr[i];
    const struct reducer *f = reducer_of((enum op)x->op, work_type((enum dtype)r->g->instr[x->in[0]].dtype));
    struct view in = value_view(r, t, x->in[0]);
    double leaf[GROUP_SIDE];
    if (!is_tall(r)) {
        for (int64_t at = 0; at < t->n; at += ROW_BLOCK) {
            f->block(leaf, in.p + at * in.step, min_i64(ROW_BLOCK, t->n - at));
            counter_push(c, f, 1, leaf);
        }
        return;
    }
    for (int64_t l = 0; l < t->lines; l += COLUMN_BLOCK) {
        f->start(leaf, t->n);
        for (int64_t k = l; k < min_i64(t->lines, l + COLUMN_BLOCK); k++) {
            f->merge(leaf, in.p + k * in.line, t->n);
        }
        counter_push(c, f, t->n, leaf);
    }
}

/* The results of a pass: finished into their values, or left in the scratch of the launch. */
static void leave(struct group_run *r, struct trees *trees, int level, int64_t row, int64_t width,
                  int64_t chunk)
{
    for (int i = 0; i < r->g->n_instr; i++) {
        const struct group_instr *x = &r->g->instr[i];
        const struct value *v = &r->value[i];
        if (x->kind != GROUP_REDUCE || v->level != level) {
            continue;
        }
        const struct reducer *f =
            reducer_of((enum op)x->op, work_type((enum dtype)r->g->instr[x->in[0]].dtype));
        struct counter *c = &trees->at[v->reduction];
        counter_close(c, f, width);
        if (r->chunks > 1) {
            int64_t share = (int64_t)(r->k->work_bytes / (uint64_t)r->n_reduction / 8 * 8);
            memcpy(r->arena + r->k->work + v->reduction * share + (chunk * r->rows + row) * v->size, c->acc,
                   (size_t)(width * v->size));
            continue;
        }
        f->finish(live_of(r, v)->row, c->acc, width, r->inside);
        if (x->dtype == DT_BF16) {
            round_bf16((float *)(void *)live_of(r, v)->row, width);
        }
    }
}

/* Values of rows of a level, made of what passes before left. */
static void make_rows(struct group_run *r, const struct tile *t, int level)
{
    for (int i = 0; i < r->g->n_instr; i++) {
        const struct value *v = &r->value[i];
        if (v->class == CLASS_ROW && v->level == level && r->g->instr[i].kind != GROUP_REDUCE) {
            value_make(r, t, NULL, i);
        }
    }
}
static void make_pass(struct group_run *r, const struct tile *t, char *spread, struct trees *trees, int level)
{
    for (int i = 0; i < r->g->n_instr; i++) {
        const struct group_instr *x = &r->g->instr[i];
        const struct value *v = &r->value[i];
        if (x->kind == GROUP_REDUCE && v->level == level) {
            feed(r, t, &trees->at[v->reduction], i);
        } else if (v->class == CLASS_FULL && v->passes >> level & 1) {
            value_make(r, t, spread, i);
        }
    }
    for (int i = 0; i < r->g->n_store; i++) {
        const struct value *v = &r->value[r->g->store[i].value];
        if (v->class == CLASS_FULL && v->level == level) {
            value_store(r, t, &r->g->store[i]);
        }
    }
}

/* A chunk of the insides of `width` rows from `row` on, pass by pass. */
static void long_piece(struct group_run *r, int64_t row, int64_t width, int64_t chunk, char *spread)
{
    struct trees trees;
    bool tall = is_tall(r);
    int64_t from = chunk * r->chunk, end = min_i64(r->inside, from + r->chunk);
    int64_t step = tall ? max_i64(COLUMN_BLOCK, r->tile / width / COLUMN_BLOCK * COLUMN_BLOCK) : r->tile;
    struct tile t = {.row = row, .rows = width, .at = from};
    for (int i = 0; i < r->n_reduction; i++) {
        trees.at[i] = (struct counter){.acc = (char *)trees.acc[i]};
    }
    t.lines = tall ? 0 : 1;
    t.n = tall ? width : 0;
    for (int level = 0; level < r->levels; level++) {
        make_rows(r, &t, level);
        for (int64_t at = from; at < end && r->passes >> level & 1; at += step) {
            int64_t n = min_i64(step, end - at);
            t.at = at;
            *(tall ? &t.lines : &t.n) = n;
            make_pass(r, &t, spread, &trees, level);
        }
        t.at = from;
        leave(r, &trees, level, row, width, chunk);
    }
    for (int i = 0; i < r->g->n_store; i++) {
        const struct group_store *s = &r->g->store[i];
        const struct value *v = &r->value[s->value];
        bool waits = r->chunks > 1 && r->g->instr[s->value].kind == GROUP_REDUCE;
        if (v->class != CLASS_FULL && !waits && chunk == 0) {
            value_store(r, &t, s);
        }
    }
}

static void long_unit(struct group_run *r, int64_t unit, char *spread)
{
    int64_t group = unit / r->chunks, chunk = unit % r->chunks;
    if (!is_tall(r)) {
        long_piece(r, group, 1, chunk, spread);
        return;
    }
    int64_t pieces = div_up(r->sides, r->side), at = group % pieces * r->side;
    long_piece(r, group / pieces * r->sides + at, min_i64(r->side, r->sides - at), chunk, spread);
}

/* One that owns its values. */
struct own_run {
    struct group_run run;
    struct iter store[GROUP_MAX_OPERANDS];
    struct value value[GROUP_MAX_INSTR];
};
static struct group_run *prepare_own(struct own_run *o, const struct kargs *k)
{
    o->run.store = o->store;
    o->run.value = o->value;
    prepare(&o->run, k);
    return &o->run;
}

const void *cpu_group_prepared(const struct kargs *k, struct arena *a)
{
    struct own_run own;
    struct group_run *r = arena_new_of(a, struct group_run);
    *r = *prepare_own(&own, k);
    r->store = arena_array(a, struct iter, k->n_out);
    r->value = arena_array(a, struct value, k->group->n_instr);
    memcpy(r->store, own.store, k->n_out * sizeof *r->store);
    memcpy(r->value, own.value, k->group->n_instr * sizeof *r->value);
    return r;
}

/* Operands that move with the counter of a loop, where they are now. */
struct turned {
    struct kargs k;
    struct operand in[GROUP_MAX_OPERANDS], out[GROUP_MAX_OPERANDS];
};
static int64_t turn_of(void *arena, const struct kargs *k, uint16_t counter, int64_t turn)
{
    return turn ? turn * *(const int32_t *)cpu_at(arena, &k->in[counter]) : 0;
}
static const struct kargs *turn(struct turned *t, void *arena, const struct kargs *k)
{
    const struct group *g = k->group;
    bool any = false;
    for (uint16_t i = 0; i < g->n_instr; i++) {
        any |= g->instr[i].turn != 0;
    }
    for (uint16_t i = 0; i < g->n_store; i++) {
        any |= g->store[i].turn != 0;
    }
    if (!any) {
        return k;
    }
    t->k = *k;
    t->k.in = t->in;
    t->k.out = t->out;
    memcpy(t->in, k->in, k->n_in * sizeof *t->in);
    memcpy(t->out, k->out, k->n_out * sizeof *t->out);
    for (uint16_t i = 0; i < g->n_instr; i++) {
        const struct group_instr *x = &g->instr[i];
        if (x->turn) {
            t->in[x->operand].offset =
                k->in[x->operand].offset + (uint64_t)turn_of(arena, k, x->counter, x->turn);
        }
    }
    for (uint16_t i = 0; i < g->n_store; i++) {
        const struct group_store *s = &g->store[i];
        t->out[s->operand].offset += (uint64_t)turn_of(arena, k, s->counter, s->turn);
    }
    return &t->k;
}

static int64_t group_units(const struct kargs *k)
{
    struct own_run own;
    const struct group_run *r = k->prepared;
    if (group_points(k->group) == 0) {
        return 0;
    }
    return r ? r->units : prepare_own(&own, k)->units;
}

static void group_kernel(void *arena, const struct kargs *k, struct slice s)
{
    struct own_run own;
    struct live live[GROUP_MAX_INSTR];
    struct scratch room;
    struct group_run run = k->prepared ? *(const struct group_run *)k->prepared : *prepare_own(&own, k),
                     *r = &run;
    struct turned turned;
    run.arena = arena;
    run.k = turn(&turned, arena, k);
    run.live = live;
    int64_t rows = r->way == WAY_ROWS ? rows_of_tile(r) : r->way == WAY_FLAT ? 0 : r->side;
    place_values(r, room.room, rows);
    value_uniforms(r);
    char *spread = spread_room(r, room.room, rows);
    for (int64_t unit = s.from; unit < s.to; unit++) {
        if (r->way == WAY_FLAT) {
            flat_unit(r, unit, spread);
        } else if (r->way == WAY_ROWS) {
            rows_unit(r, unit, spread);
        } else {
            long_unit(r, unit, spread);
        }
    }
}

/* What chunks of a long reduction left, put together. */
static void finish_store(struct group_run *r, const struct group_store *s)
{
    const struct group_instr *x = &r->g->instr[s->value];
    const struct value *v = &r->value[s->value];
    if (x->kind != GROUP_REDUCE) {
        return;
    }
    const struct reducer *f = reducer_of((enum op)x->op, work_type((enum dtype)r->g->instr[x->in[0]].dtype));
    int64_t share = (int64_t)(r->k->work_bytes / (uint64_t)r->n_reduction / 8 * 8);
    char *work = r->arena + r->k->work + v->reduction * share;
    reduce_merge(f, work, r->chunks, r->rows, v->size);
    for (int64_t row = 0; row < r->rows; row += GROUP_ROWS) {
        double out[GROUP_ROWS];
        int64_t n = min_i64(GROUP_ROWS, r->rows - row);
        f->finish(out, work + row * v->size, n, r->inside);
        if (x->dtype == DT_BF16) {
            round_bf16((float *)(void *)out, n);
        }
        value_store_rows(r, s, (char *)out, row, n);
    }
}

static void group_finish(void *arena, const struct kargs *k, struct slice s)
{
    struct own_run own;
    (void)s;
    if (!k->work_bytes || group_points(k->group) == 0) {
        return;
    }
    struct group_run r = k->prepared ? *(const struct group_run *)k->prepared : *prepare_own(&own, k);
    struct turned turned;
    r.arena = arena;
    r.k = turn(&turned, arena, k);
    for (int i = 0; i < r.g->n_store && r.chunks > 1; i++) {
        finish_store(&r, &r.g->store[i]);
    }
}

bool cpu_group_runs(const struct group *g)
{
    for (uint16_t i = 0; i < g->n_instr; i++) {
        if (g->instr[i].kind == GROUP_ELEM && !elem_run_at(g, &g->instr[i])) {
            return false;
        }
    }
    return true;
}

const struct cpu_kernel cpu_group_kernel = {group_units, group_kernel, group_finish};
