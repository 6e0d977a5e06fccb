/* Description of the passes of a radix sort: three launches for each digit. */
#include "kernels/cuda/describe.h"

_Static_assert((int)RADIX_TILE == (int)PLAN_ORDER_TILE && (int)RADIX_DIGITS == (int)PLAN_ORDER_DIGITS,
               "the planner's scratch is counted in tiles and digits");

enum { COUNT_THREADS = 256, SCAN_THREADS = 1024, ROWS_MOST = 65535 };

int describe_radix(struct radix_params *p, int dtype, int passes, uint64_t even, uint64_t odd,
                   struct launch *l, int max)
{
    int n = 0;
    int64_t rows = p->segments < ROWS_MOST ? p->segments : ROWS_MOST;
    if (3 * passes > max) {
        return CUDA_UNSUPPORTED;
    }
    for (int pass = 0; pass < passes; pass++) {
        p->shift = 8 * pass;
        p->first = pass == 0;
        p->from = pass % 2 ? even : odd;
        p->to = pass % 2 ? odd : even;
        int a = launch_make(&l[n], cuda_radix_function(dtype, RADIX_COUNT), p->blocks, rows, COUNT_THREADS, 1,
                            p, sizeof *p);
        int b = launch_make(&l[n + 1], cuda_radix_function(dtype, RADIX_SCAN), rows, 1, SCAN_THREADS, 1, p,
                            sizeof *p);
        int c = launch_make(&l[n + 2], cuda_radix_function(dtype, RADIX_SCATTER), p->blocks, rows,
                            COUNT_THREADS, 1, p, sizeof *p);
        if (a < 0 || b < 0 || c < 0) {
            return CUDA_UNSUPPORTED;
        }
        n += 3;
    }
    return n;
}
