// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

namespace tidemark::recorder {

/// Returns the hash of a sequence of numbers: that of all but the last one, and the last one.
inline uint64_t mixed(uint64_t hash, uint64_t value) {
    hash = ((hash << 23 | hash >> 41) ^ value) * 0x9fb21c651e98df25u;
    return hash ^ (hash >> 31);
}

}  // namespace tidemark::recorder
