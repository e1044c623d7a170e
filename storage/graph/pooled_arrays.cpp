// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/graph/pooled_arrays.h"

#include "storage/base/parse_number.h"

namespace tidemark {

std::optional<PooledArrays> pooled_arrays_of(std::string_view text) {
    constexpr std::string_view of = " of ";
    const size_t at = text.find(of);
    if (at == text.npos) {
        return std::nullopt;
    }
    const auto count = parse_count(text.substr(0, at)), bytes = parse_count(text.substr(at + of.size()));
    return count && bytes ? std::optional(PooledArrays{*count, *bytes}) : std::nullopt;
}

bool retains_pooled_arrays(const Referrer& referrer) {
    return referrer.node == no_node && !referrer.allocation && referrer.links.size() > 1 &&
           referrer.links.back().kind == PathLinkKind::arrays;
}

}  // namespace tidemark
