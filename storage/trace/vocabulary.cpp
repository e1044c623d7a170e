// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/trace/vocabulary.h"

#include <algorithm>
#include <array>

namespace tidemark {

namespace {

constexpr std::array<std::string_view, 10> action_names{
    "alloc",       "free_requested", "free_completed", "segment_alloc", "segment_free",
    "segment_map", "segment_unmap",  "snapshot",       "oom",           "unknown"};

constexpr std::array<std::string_view, data_gap_kind_count> data_gap_names{"history_truncated",
                                                                           "block_size_guessed",
                                                                           "events_inconsistent",
                                                                           "unknown_actions",
                                                                           "pool_unknown",
                                                                           "recorder_overrun",
                                                                           "unclean_end",
                                                                           "no_stacks",
                                                                           "no_times",
                                                                           "redacted",
                                                                           "not_recorded",
                                                                           "state_disagrees",
                                                                           "unknown",
                                                                           "damaged"};

}  // namespace

std::string_view action_name(Action action) { return action_names[static_cast<size_t>(action)]; }

Action action_from_name(std::string_view name) {
    const auto found = std::find(action_names.begin(), action_names.end(), name);
    return found == action_names.end() ? Action::unknown : static_cast<Action>(found - action_names.begin());
}

DataGapKind data_gap_from_name(std::string_view name) {
    const auto found = std::find(data_gap_names.begin(), data_gap_names.end(), name);
    return found == data_gap_names.end() ? DataGapKind::unknown
                                         : static_cast<DataGapKind>(found - data_gap_names.begin());
}

std::string_view integrity_name(Integrity integrity) {
    constexpr std::array<std::string_view, 5> names{"no_checksums", "unfinished", "not_checked", "intact", "changed"};
    return names[static_cast<size_t>(integrity)];
}

std::string_view data_gap_name(DataGapKind kind) { return data_gap_names[static_cast<size_t>(kind)]; }

}  // namespace tidemark
