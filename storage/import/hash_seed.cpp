// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/import/hash_seed.h"

#include "storage/base/random_number.h"

namespace tidemark {

uint64_t hash_seed() {
    static const uint64_t seed = random_number();
    return seed;
}

}  // namespace tidemark
