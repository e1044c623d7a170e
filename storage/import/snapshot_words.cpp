// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/import/snapshot_words.h"

#include <array>

namespace tidemark::word {
namespace {

constexpr std::array<std::string_view, count> words{
    "",
    "action",
    "addr",
    "device_free",
    "size",
    "stream",
    "time_us",
    "compile_context",
    "user_metadata",
    "frames",
    "pool_id",
    "segment_pool_id",
    "filename",
    "name",
    "line",
    "state",
    "address",
    "requested_size",
    "history",
    "real_size",
    "device",
    "total_size",
    "segment_type",
    "is_expandable",
    "blocks",
    "stage",
    "segments",
    "device_traces",
    "allocator_settings",
    "external_annotations",
    "large",
    "N/A",
    "START",
    "active_allocated",
    "active_pending_free",
    "active_awaiting_free",
    "inactive",
};
static_assert(words.back() == "inactive" && count <= 64);

}  // namespace

void add_words(TextPool& texts) {
    for (const std::string_view text : words) {
        texts.intern(text);
    }
}

}  // namespace tidemark::word
