// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Arrays that lie in the pool of a library, which shows no allocation of each. A heap scan sums them up by what retains
// them: a referrer without memory, whose last link has the sums.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "storage/trace/graph_tables.h"

namespace tidemark {

struct PooledArrays {
    int64_t count = 0, bytes = 0;
};

/// Reads the text of a link of the kind `arrays`: "201 of 1717986918". Returns nothing if it is none.
std::optional<PooledArrays> pooled_arrays_of(std::string_view text);

/// Returns whether the referrer is one of arrays in a pool.
bool retains_pooled_arrays(const Referrer& referrer);

}  // namespace tidemark
