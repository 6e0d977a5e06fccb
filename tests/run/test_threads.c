/* Products from several threads at once: serial OpenBLAS hands out its packing buffers without a lock, and
 * kernels/cpu/blas_lock.c puts one around that. */
#include <pthread.h>
#include <stdlib.h>
#include "kernels/kernel.h"
#include "tests/suite.h"

enum { M = 32, N = 40, K = 16, TIMES = 20000, ROUNDS = 25 };

struct product {
    float x[M * K], w[K * N], out[M * N], want[M * N];
    int wrong;
};

static struct operand matrix(size_t at, int64_t rows, int64_t columns)
{
    return (struct operand){
        .offset = at, .dim = {rows, columns}, .stride = {columns, 1}, .dtype = DT_F32, .rank = 2};
}

static void *multiply(void *arg)
{
    struct product *p = arg;
    struct operand in[] = {matrix(offsetof(struct product, x), M, K),
                           matrix(offsetof(struct product, w), K, N)};
    struct operand out = matrix(offsetof(struct product, out), M, N);
    struct kargs k = {.in = in, .out = &out, .n_in = 2, .n_out = 1};
    struct slice all = {0, cpu_kernels[OP_matmul].units(&k)};
    for (int i = 0; i < TIMES; i++) {
        cpu_kernels[OP_matmul].run(p, &k, all);
        if (i == 0 && p->wrong < 0) { /* the first call, alone */
            memcpy(p->want, p->out, sizeof p->want);
            p->wrong = 0;
            return NULL;
        }
        p->wrong += memcmp(p->want, p->out, sizeof p->want) != 0;
    }
    return NULL;
}

START_TEST(products_do_not_disturb_each_other)
{
    static struct product p[2];
    pthread_t thread[2];
    srand(1);
    for (int t = 0; t < 2; t++) {
        for (int i = 0; i < M * K; i++) {
            p[t].x[i] = (float)rand() / (float)RAND_MAX;
        }
        for (int i = 0; i < K * N; i++) {
            p[t].w[i] = (float)rand() / (float)RAND_MAX;
        }
        p[t].wrong = -1;
        multiply(&p[t]);
    }
    for (int round = 0; round < ROUNDS; round++) { /* the first products of a round collide */
        for (int t = 0; t < 2; t++) {
            ck_assert_int_eq(pthread_create(&thread[t], NULL, multiply, &p[t]), 0);
        }
        pthread_join(thread[0], NULL);
        pthread_join(thread[1], NULL);
    }
    for (int t = 0; t < 2; t++) {
        ck_assert_msg(p[t].wrong == 0, "%d of %d products are wrong", p[t].wrong, ROUNDS * TIMES);
    }
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("threads");
    tcase_add_test(t, products_do_not_disturb_each_other);
    return suite_run("threads", t, CK_FORK);
}
