/* Matrix products of the CPU kernels as plain loops in f64, instead of the library: a sharper reference, and
 * programs small enough to be copied to where the GPU is. Linked into gpu_parity and gpu_random. */

#define GEMM(name, T)                                                                                        \
    void name(int order, int ta, int tb, int m, int n, int k, T alpha, const T *a, int lda, const T *b,      \
              int ldb, T beta, T *c, int ldc);                                                               \
    void name(int order, int ta, int tb, int m, int n, int k, T alpha, const T *a, int lda, const T *b,      \
              int ldb, T beta, T *c, int ldc)                                                                \
    {                                                                                                        \
        enum { TRANSPOSED = 112 };                                                                           \
        (void)order; /* always row-major */                                                                  \
        for (int i = 0; i < m * n; i++) {                                                                    \
            double sum = 0;                                                                                  \
            int row = i / n, col = i % n;                                                                    \
            for (int j = 0; j < k; j++) {                                                                    \
                sum += (double)a[ta == TRANSPOSED ? j * lda + row : row * lda + j] *                         \
                       (double)b[tb == TRANSPOSED ? col * ldb + j : j * ldb + col];                          \
            }                                                                                                \
            T *to = &c[row * ldc + col];                                                                     \
            *to = (T)((double)alpha * sum + (beta != 0 ? (double)(beta * *to) : 0));                         \
        }                                                                                                    \
    }
GEMM(cblas_sgemm, float)
GEMM(cblas_dgemm, double)
char *openblas_get_config(void);
char *openblas_get_config(void)
{
    static char text[] = "plain loops";
    return text;
}

/* What kernels/cpu/blas_lock.c puts its lock around; nobody calls it here, and the library stays out of the
 * program. */
void *blas_memory_alloc(int kind);
void *blas_memory_alloc(int kind)
{
    (void)kind;
    return 0;
}
void blas_memory_free(void *p);
void blas_memory_free(void *p)
{
    (void)p;
}
