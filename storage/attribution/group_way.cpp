// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/attribution/group_way.h"

#include <fmt/format.h>

#include <charconv>

namespace tidemark {

Result<Way> parse_way(const std::string& text) {
    constexpr int deepest = 64;
    const size_t colon = text.find(':');
    const auto by = group_by_from_name(std::string_view(text).substr(0, colon));
    if (!by || colon == text.npos) {
        return by ? Result<Way>(Way{*by, {}}) : by.error();
    }
    int depth = 0;
    const char* end = text.data() + text.size();
    const auto parsed = std::from_chars(text.data() + colon + 1, end, depth);
    const bool is_depth = parsed.ec == std::errc() && parsed.ptr == end && depth >= 1 && depth <= deepest;
    if (*by != GroupBy::module || !is_depth) {
        return usage_error("\"{text}\" is not a way to group memory; only module takes a depth, such as module:2.",
                           with("text", text));
    }
    Way way{*by, {}};
    way.options.module_depth = depth;
    return way;
}

bool needs_graph(GroupBy by) { return by == GroupBy::category || by == GroupBy::node || by == GroupBy::graph_step; }

}  // namespace tidemark
