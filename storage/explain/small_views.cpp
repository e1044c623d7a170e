// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/explain/small_views.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>

#include "storage/graph/graph_index.h"
#include "storage/graph/referrer_groups.h"

namespace tidemark {
namespace {

/// Copies of the views must free most of the memory.
constexpr int64_t least_ratio = 4;

/// Reads "4096 of 1048576".
std::optional<View> parse_view(std::string_view text) {
    const size_t of = text.find(" of ");
    if (of == text.npos) {
        return std::nullopt;
    }
    View view;
    const std::string_view storage = text.substr(of + 4);
    const bool is_valid =
        std::from_chars(text.data(), text.data() + of, view.bytes).ec == std::errc() &&
        std::from_chars(storage.data(), storage.data() + storage.size(), view.storage).ec == std::errc();
    return is_valid && view.bytes >= 0 && view.storage > 0 ? std::optional(view) : std::nullopt;
}

std::optional<View> view_of(const GraphTables& tables, const Referrer& referrer) {
    return is_view(referrer) ? parse_view(tables.texts[referrer.links.back().name]) : std::nullopt;
}

}  // namespace

std::vector<Fix> fixes_of_views(const std::string& container, const View& view, int64_t bytes,
                                std::optional<int64_t> per_iteration, const Words& words) {
    const double part = static_cast<double>(view.bytes) / static_cast<double>(view.storage);
    const auto without_copies = [&](int64_t all) { return all - std::llround(static_cast<double>(all) * part); };
    return {{words("Store a copy of the part that is needed: it has a storage of its own."),
             fmt::format("{}.append(tensor[0].clone())", container), without_copies(bytes),
             per_iteration ? std::optional(without_copies(*per_iteration)) : std::nullopt},
            {words("Or copy it to host memory."), fmt::format("{}.append(tensor[0].cpu())", container), bytes,
             per_iteration}};
}

SmallViews::SmallViews(const GraphTables& tables) : tables_(tables) {
    constexpr int64_t all = INT64_C(1) << 56;  // a tensor that shows all of its storage
    for (const Referrer& referrer : tables.referrers) {
        if (referrer.allocation) {
            const std::optional<View> view = view_of(tables, referrer);
            int64_t& bytes = bytes_[{referrer.scan, memory_key(referrer.allocation)}];
            bytes = std::min(all, bytes + (view ? std::min(view->bytes, all) : all));
        }
    }
}

std::optional<View> SmallViews::of(const Referrer& referrer) const {
    const std::optional<View> view = view_of(tables_, referrer);
    if (!view || !referrer.allocation) {
        return std::nullopt;
    }
    const int64_t bytes = bytes_.at({referrer.scan, memory_key(referrer.allocation)});
    return bytes <= view->storage / least_ratio ? view : std::nullopt;
}

}  // namespace tidemark
