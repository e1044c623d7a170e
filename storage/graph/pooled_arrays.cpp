// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/graph/pooled_arrays.h"

#include <charconv>

namespace tidemark {
namespace {

std::optional<int64_t> number_of(std::string_view text) {
    int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    const bool is_number = error == std::errc() && end == text.data() + text.size() && number >= 0;
    return is_number ? std::optional(number) : std::nullopt;
}

}  // namespace

std::optional<PooledArrays> pooled_arrays_of(std::string_view text) {
    constexpr std::string_view of = " of ";
    const size_t at = text.find(of);
    if (at == text.npos) {
        return std::nullopt;
    }
    const auto count = number_of(text.substr(0, at)), bytes = number_of(text.substr(at + of.size()));
    return count && bytes ? std::optional(PooledArrays{*count, *bytes}) : std::nullopt;
}

bool retains_pooled_arrays(const Referrer& referrer) {
    return referrer.node == no_node && !referrer.allocation && referrer.links.size() > 1 &&
           referrer.links.back().kind == PathLinkKind::arrays;
}

}  // namespace tidemark
