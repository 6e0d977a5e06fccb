/* Includes the file TWICE for f32, f64 and bf16: there, T is the type computed in, S the type stored, NAME(x)
 * is x_f32, x_f64 or x_bf16; GET widens an S to a T and PUT rounds a T to an S. NARROW is 1 for bf16, whose T
 * is float. A kernel file sets TWICE to itself and keeps the text that depends on T in the part compiled when
 * T is defined. No include guard: every kernel file includes it once for itself. */
#ifdef TWICE
#define GET(x)  (x)
#define PUT(x)  ((S)(x))
#define NARROW  0
#define T       float
#define S       float
#define NAME(x) x##_f32
#include TWICE
#undef T
#undef S
#undef NAME
#define T       double
#define S       double
#define NAME(x) x##_f64
#include TWICE
#undef T
#undef S
#undef NAME
#undef GET
#undef PUT
#undef NARROW
#define GET(x)  bf16_widen(x)
#define PUT(x)  bf16_round((float)(x))
#define NARROW  1
#define T       float
#define S       struct bf16
#define NAME(x) x##_bf16
#include TWICE
#undef T
#undef S
#undef NAME
#undef GET
#undef PUT
#undef NARROW
#undef TWICE
#endif
