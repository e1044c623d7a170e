// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/explain/joined_suspects.h"

#include <algorithm>

#include "storage/explain/analysis_context.h"
#include "storage/text/referrer_words.h"

namespace tidemark {
namespace {

/// Tensors by which lists that the same calls fill may differ: the first ones of one may be missed by the scans.
constexpr int64_t most_tensors_apart = 3;

/// Returns the position of the attributes of one object at which two paths part, and after which they lead alike.
/// Ignores elements. Nothing if they do not part so, or if the object is a variable.
std::optional<size_t> where_attributes_part(const GraphTables& tables, const std::vector<PathLink>& a,
                                            const std::vector<PathLink>& b) {
    const auto is_same = [](const PathLink& one, const PathLink& other) {
        return one.kind == other.kind && (is_element(one) || one == other);
    };
    const auto parted = std::mismatch(a.begin(), a.end(), b.begin(), b.end(), is_same);
    if (a.size() != b.size() || parted.first == a.end()) {
        return std::nullopt;
    }
    const auto position = static_cast<size_t>(parted.first - a.begin());
    const std::string owner = owner_of(tables, *parted.first);
    const bool is_object = position > 1 && !owner.empty() && owner == owner_of(tables, *parted.second) &&
                           std::equal(parted.first + 1, a.end(), parted.second + 1, is_same);
    return is_object ? std::optional(position) : std::nullopt;
}

/// Returns the rises of both together, if they rise together.
std::optional<Rises> sum_of(const std::optional<Rises>& a, const std::optional<Rises>& b) {
    const bool are_alike = a && b && a->count == b->count && a->every == b->every;
    return are_alike ? std::optional(Rises{a->count, a->bytes + b->bytes, a->every}) : std::nullopt;
}

/// Returns whether both begin in the same iteration, or a few iterations apart with about as many tensors.
bool begin_together(const LeakSuspect& a, const LeakSuspect& b) {
    const auto apart = static_cast<int64_t>(std::max(a.since, b.since) - std::min(a.since, b.since));
    return apart == 0 || std::max(apart, std::abs(a.count - b.count)) <= most_tensors_apart;
}

}  // namespace

void join(LeakSuspect& suspect, const LeakSuspect& other) {
    suspect.sites.insert(suspect.sites.end(), other.sites.begin(), other.sites.end());
    suspect.is_model = suspect.is_model && other.is_model;
    suspect.roots = std::max(suspect.roots, other.roots);
    suspect.bytes += other.bytes;
    suspect.count += other.count;
    suspect.allocations.insert(suspect.allocations.end(), other.allocations.begin(), other.allocations.end());
    suspect.per_iteration += other.per_iteration;
    suspect.since = std::min(suspect.since, other.since);
    suspect.rises = sum_of(suspect.rises, other.rises);
}

bool are_of_one_object(const GraphTables& tables, const LeakSuspect& a, const LeakSuspect& b) {
    const bool rise_together = a.rises.has_value() == b.rises.has_value() && (!a.rises || sum_of(a.rises, b.rises));
    if (!a.referrer || !b.referrer || a.iterations != b.iterations || a.growth != b.growth || !rise_together ||
        !begin_together(a, b)) {
        return false;
    }
    const auto object = where_attributes_part(tables, a.referrer->links, b.referrer->links);
    return object && (a.attributes.empty() ? *object < a.paths.links.size() : *object == a.paths.links.size());
}

void join_attributes(const GraphTables& tables, LeakSuspect& suspect, const LeakSuspect& other) {
    const size_t position = *where_attributes_part(tables, suspect.referrer->links, other.referrer->links);
    if (suspect.attributes.empty()) {
        suspect.attributes.push_back(suspect.referrer->links[position].name);
        suspect.paths.links.resize(position);
        suspect.paths.varying = suspect.paths.varying < position ? suspect.paths.varying : std::nullopt;
    }
    suspect.attributes.push_back(other.referrer->links[position].name);
    join(suspect, other);
}

}  // namespace tidemark
