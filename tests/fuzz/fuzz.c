/* A libFuzzer program of one target, GML_FUZZ_TARGET: its number in targets.h. Built with -DGML_FUZZ=ON. */
#include "tests/fuzz/targets.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    fuzz_targets[GML_FUZZ_TARGET].run(bytes, n);
    return 0;
}
