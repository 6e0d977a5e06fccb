/* A group as source text and numbers. */
#include <stdio.h>
#include "kernels/codegen/internal.h"

static uint64_t hash_text(uint64_t h, const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        h = (h ^ (unsigned char)s[i]) * 0x100000001b3u; /* FNV-1a */
    }
    return h;
}

static int n_places(const struct kargs *k)
{
    int n = k->n_in + k->n_out + 2;
    for (uint16_t i = 0; i < k->group->n_instr; i++) {
        n += k->group->instr[i].kind == GROUP_CHECK;
    }
    return n;
}

int codegen_places(const struct kargs *k, uint64_t counters, uint64_t places[CODEGEN_PLACES])
{
    int n = 0;
    if (n_places(k) > CODEGEN_PLACES) {
        return 0;
    }
    for (uint16_t i = 0; i < k->n_in; i++) {
        places[n++] = k->in[i].offset;
    }
    for (uint16_t i = 0; i < k->n_out; i++) {
        places[n++] = k->out[i].offset;
    }
    places[n++] = k->work;
    places[n++] = counters;
    for (uint16_t i = 0; i < k->group->n_instr; i++) {
        if (k->group->instr[i].kind == GROUP_CHECK) {
            places[n++] = k->group->instr[i].node;
        }
    }
    return n;
}

static void assemble(struct frame *f, struct codegen_kernel *out)
{
    struct text rest = {.arena = f->arena}, all = {.arena = f->arena};
    text_printf(
        &all,
        "#pragma nv_diag_suppress 177, 186\n"); /* unused functions and variables; e < 0 of an empty row */
    text_append(&all, (const char *)codegen_vocab, codegen_vocab_bytes);
    text_append(&all, (const char *)codegen_prelude, codegen_prelude_bytes);
    text_append(&all, f->functions.at ? f->functions.at : "", f->functions.n);
    text_printf(&all, "struct gml_places\n{\n    uint64_t at[%d];\n};\n", n_places(f->k));
    text_printf(&rest, "(char *arena, const __grid_constant__ gml_places p)\n{\nwait_for_previous();\n");
    text_append(&rest, f->body.at, f->body.n);
    text_printf(&rest, "}\n");
    uint64_t h =
        hash_text(hash_text(0xcbf29ce484222325u + (uint64_t)f->s.threads, all.at, all.n), rest.at, rest.n);
    snprintf(out->name, sizeof out->name, "gml_%016llx", (unsigned long long)h);
    text_printf(&all, "extern \"C\" __global__ void __launch_bounds__(%d) %s", f->s.threads, out->name);
    text_append(&all, rest.at, rest.n);
    out->source = all.at;
    out->bytes = all.n;
}

bool codegen_group(const struct kargs *k, struct arena *a, struct codegen_kernel *out)
{
    struct frame *f = arena_new_of(a, struct frame);
    frame_make(f, k, a);
    if (f->rows == 0 || (is_flat(f) && f->inside == 0)) {
        return false;
    }
    schedule_make(f);
    kernel_emit(f);
    out->schedule = f->s;
    assemble(f, out);
    return true;
}
