// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/explain/alike_paths.h"

#include <algorithm>

#include "storage/explain/analysis_context.h"
#include "storage/text/referrer_words.h"

namespace tidemark {

std::span<const PathLink> links_to_tensor(const Referrer& referrer) {
    return std::span(referrer.links).first(referrer.links.size() - (is_view(referrer) ? 1 : 0));
}

bool is_same_place(const PathLink& one, const PathLink& other) {
    return one.kind == other.kind && one.function == other.function && one.file == other.file &&
           (is_element(one) || one.name == other.name);
}

bool lead_alike(const Referrer& a, const Referrer& b) {
    const auto links_of_a = links_to_tensor(a), links_of_b = links_to_tensor(b);
    for (size_t i = 0; i < std::min(links_of_a.size(), links_of_b.size()); ++i) {
        const PathLink &one = links_of_a[i], &other = links_of_b[i];
        const bool is_same = is_same_place(one, other);
        const bool is_call = i > 0 && one.kind == PathLinkKind::local && other.kind == one.kind;
        if (is_call) {
            return one.function == other.function && one.file == other.file;
        }
        if (!is_same || one.kind == PathLinkKind::exception) {
            return is_same;
        }
    }
    return links_of_a.size() == links_of_b.size();
}

std::string container_name(const GraphContext& graph, const Referrer& referrer) {
    const size_t end = container_end(referrer.links);
    return end == referrer.links.size() ? std::string() : graph.text(referrer.links[end - (end > 0 ? 1 : 0)].name);
}

}  // namespace tidemark
