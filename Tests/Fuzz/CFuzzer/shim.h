// SPDX-License-Identifier: Apache-2.0
// libFuzzer comes with the toolchain as a library without a header; this is its one entry ("Using libFuzzer as a library",
// llvm.org/docs/LibFuzzer.html).
#ifndef RELAY_FUZZER_SHIM_H
#define RELAY_FUZZER_SHIM_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerRunDriver(
    int *_Nonnull argc, char *_Nullable *_Nonnull *_Nonnull argv,
    int (*_Nonnull callback)(const uint8_t *_Nullable data, size_t size));

#endif
