// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The seed for hashes of file contents. Each process has its own seed, so that no file can force collisions.
#pragma once

#include <cstdint>

namespace tidemark {

/// Returns the same value throughout the process.
uint64_t hash_seed();

/// Mixes one more word into a hash.
inline uint64_t mix_hash(uint64_t word, uint64_t state) {
    uint64_t x = (word ^ state) * 0x9e3779b97f4a7c15;
    x ^= x >> 32;
    x *= state | 1;
    return x ^ (x >> 29);
}

}  // namespace tidemark
