/* Includes the file TWICE for f32 and for f64: there, T is the type and NAME(x) is x_f32 or x_f64. A kernel
 * file sets TWICE to itself and keeps the text that depends on T in the part compiled when T is defined. No
 * include guard: every kernel file includes it once for itself. */
#ifdef TWICE
#define T       float
#define NAME(x) x##_f32
#include TWICE
#undef T
#undef NAME
#define T       double
#define NAME(x) x##_f64
#include TWICE
#undef T
#undef NAME
#undef TWICE
#endif
