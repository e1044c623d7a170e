// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Lets libFuzzer use the mutators of tests/hostile, which know the structure of a file, beside its own.
#pragma once

#include <algorithm>

#include "tests/hostile/trace_mutator.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t most);

namespace tidemark::fuzz {

/// Replaces data[0, size) by a mutant of at most `most` bytes. Every fourth one is made by libFuzzer. Returns its size.
template <class Mutate>
size_t mutate(uint8_t* data, size_t size, size_t most, unsigned seed, Mutate&& by_structure) {
    if (seed % 4 == 0) {
        return LLVMFuzzerMutate(data, size, most);
    }
    const hostile::Mutant mutant = by_structure(std::span<const uint8_t>(data, size), seed);
    if (mutant.bytes.empty() || mutant.bytes.size() > most) {
        return LLVMFuzzerMutate(data, size, most);
    }
    std::copy(mutant.bytes.begin(), mutant.bytes.end(), data);
    return mutant.bytes.size();
}

}  // namespace tidemark::fuzz
