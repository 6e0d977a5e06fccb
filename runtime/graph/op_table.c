/* The operator table as data, generated from kernels/ops.def. */
#include <string.h>
#include "kernels/op_flags.h"

#define ELEM(name_, dsl_, n_, sig_, fwd_, dx_, dy_, dz_, domain_, tol_, doc_)                                \
    [OP_##name_] = {.name = #name_,                                                                          \
                    .dsl = dsl_,                                                                             \
                    .doc = doc_,                                                                             \
                    .kind = OPK_ELEM,                                                                        \
                    .sig = SIG_##sig_,                                                                       \
                    .n_min = n_,                                                                             \
                    .n_max = n_,                                                                             \
                    .forward = #fwd_,                                                                        \
                    .derivative = {dx_, dy_, dz_},                                                           \
                    .attrs = "",                                                                             \
                    .signature = "",                                                                         \
                    .domain = DOM_##domain_,                                                                 \
                    .tolerance = tol_},
#define REDUCE(name_, dsl_, sig_, identity_, combine_, finish_, doc_)                                        \
    [OP_##name_] = {.name = #name_,                                                                          \
                    .dsl = dsl_,                                                                             \
                    .doc = doc_,                                                                             \
                    .kind = OPK_REDUCE,                                                                      \
                    .sig = SIG_##sig_,                                                                       \
                    .n_min = 1,                                                                              \
                    .n_max = 1,                                                                              \
                    .forward = "",                                                                           \
                    .identity = #identity_,                                                                  \
                    .combine = #combine_,                                                                    \
                    .finish = #finish_,                                                                      \
                    .derivative = {"", "", ""},                                                              \
                    .attrs = "axes...",                                                                      \
                    .signature = "x[..] -> x without the axes"},
#define VIEW(name_, dsl_, attrs_, doc_)                                                                      \
    [OP_##name_] = {.name = #name_,                                                                          \
                    .dsl = dsl_,                                                                             \
                    .doc = doc_,                                                                             \
                    .kind = OPK_VIEW,                                                                        \
                    .n_min = 1,                                                                              \
                    .n_max = 1,                                                                              \
                    .forward = "",                                                                           \
                    .derivative = {"", "", ""},                                                              \
                    .attrs = attrs_,                                                                         \
                    .signature = ""},
#define OP(name_, dsl_, lo_, hi_, flags_, attrs_, sig_, doc_)                                                \
    [OP_##name_] = {.name = #name_,                                                                          \
                    .dsl = dsl_,                                                                             \
                    .doc = doc_,                                                                             \
                    .kind = OPK_OP,                                                                          \
                    .n_min = lo_,                                                                            \
                    .n_max = hi_,                                                                            \
                    .flags = flags_,                                                                         \
                    .forward = "",                                                                           \
                    .derivative = {"", "", ""},                                                              \
                    .attrs = attrs_,                                                                         \
                    .signature = sig_},
const struct op_info op_table[OP_COUNT] = {
    [OP_NONE] = {.name = "",
                 .dsl = "",
                 .doc = "",
                 .forward = "",
                 .derivative = {"", "", ""},
                 .attrs = "",
                 .signature = ""},
#include "kernels/ops.def"
};

enum op op_by_name(const char *name)
{
    for (int i = 1; i < OP_COUNT; i++) {
        if (!strcmp(op_table[i].name, name)) {
            return (enum op)i;
        }
    }
    return OP_NONE;
}

/* The column lists them in order, "phase, metric; dims: .."; a word may be followed by its values. */
int op_attr(enum op op, const char *name)
{
    const char *at = op_table[op].attrs;
    size_t n = strlen(name);
    for (int i = 0; *at && *at != ';'; i++) {
        size_t word = strcspn(at, ",;");
        if (word == n && !strncmp(at, name, n)) {
            return i;
        }
        at += word + strspn(at + word, ", ");
    }
    return -1;
}

static uint64_t mix_text(uint64_t h, const char *s)
{
    do {
        h = (h ^ (unsigned char)*s) * 1099511628211u;
    } while (*s++);
    return h;
}

uint64_t op_table_hash(void)
{
    uint64_t h = 14695981039346656037u;
    for (int i = 1; i < OP_COUNT; i++) {
        const struct op_info *o = &op_table[i];
        h = mix_text(mix_text(h, o->name), o->attrs);
        h = (h ^ (unsigned)(o->n_min + 1)) * 1099511628211u;
        h = (h ^ (unsigned)(o->n_max + 1)) * 1099511628211u;
    }
    return h;
}
