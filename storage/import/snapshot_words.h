// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The words of PyTorch's snapshot schema as numbers: the first entries of the text pool.
#pragma once

#include <string_view>

#include "storage/import/text_pool.h"

namespace tidemark::word {

/// In the order of `words` in snapshot_words.cpp. Only the first 64 can be in a WordSet.
enum : TextId {
    empty,
    action,
    addr,
    device_free,
    size,
    stream,
    time_us,
    compile_context,
    user_metadata,
    frames,
    pool_id,
    segment_pool_id,
    filename,
    name,
    line,
    state,
    address,
    requested_size,
    history,
    real_size,
    device,
    total_size,
    segment_type,
    is_expandable,
    blocks,
    stage,
    segments,
    device_traces,
    allocator_settings,
    external_annotations,
    large,
    not_available,
    start,
    active_allocated,
    active_pending_free,
    active_awaiting_free,
    inactive,
    count
};

/// Adds the words as the first entries of a new pool.
void add_words(TextPool& texts);

/// A set of these words.
class WordSet {
public:
    void add(TextId id) { bits_ |= id < 64 ? uint64_t{1} << id : 0; }
    bool has(TextId id) const { return (bits_ >> id) & 1; }

private:
    uint64_t bits_ = 0;
};

}  // namespace tidemark::word
