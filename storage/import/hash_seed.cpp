// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/import/hash_seed.h"

#include <random>

namespace tidemark {

uint64_t hash_seed() {
    static const uint64_t seed = (uint64_t{std::random_device{}()} << 32) | std::random_device{}();
    return seed;
}

}  // namespace tidemark
