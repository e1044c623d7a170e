// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/job/compare_jobs.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <tuple>

namespace tidemark {
namespace {

/// The same rank of both runs; nullptr: it has no trace, or used no GPU.
struct Pair {
    const DeviceSummary *a = nullptr, *b = nullptr;
};

std::map<int64_t, Pair> pairs_of(const Job& a, const Job& b) {
    std::map<int64_t, Pair> pairs;
    for (const JobMember* member : a.ranks()) {
        pairs[*member->rank()].a = member->device();
    }
    for (const JobMember* member : b.ranks()) {
        pairs[*member->rank()].b = member->device();
    }
    return pairs;
}

template <class Value>
BothRuns both(const Pair& pair, Value&& value) {
    BothRuns values;
    if (pair.a != nullptr) {
        values.a = value(*pair.a);
    }
    if (pair.b != nullptr) {
        values.b = value(*pair.b);
    }
    return values;
}

RankChange change_of(int64_t rank, const Pair& pair) {
    return {rank, both(pair, [](const DeviceSummary& device) { return device.peak_allocated; }),
            both(pair, [](const DeviceSummary& device) { return device.allocated_at_end; }),
            both(pair, [](const DeviceSummary& device) { return device.growth(); })};
}

std::vector<SiteChange> sites_of(const Pair& pair) {
    std::map<std::string, SiteChange> by_line;
    for (const SiteMemory& site : pair.a->sites) {
        by_line[site.line] = {site.line, site.category, site.at_peak, 0};
    }
    for (const SiteMemory& site : pair.b->sites) {
        SiteChange& change = by_line[site.line];
        change = {site.line, site.category, change.a, site.at_peak};
    }
    std::vector<SiteChange> sites;
    for (auto& [line, site] : by_line) {
        if (site.difference() != 0) {
            sites.push_back(std::move(site));
        }
    }
    std::stable_sort(sites.begin(), sites.end(), [](const SiteChange& x, const SiteChange& y) {
        return std::abs(x.difference()) > std::abs(y.difference());
    });
    return sites;
}

}  // namespace

JobComparison compare_jobs(const Job& a, const Job& b) {
    const std::map<int64_t, Pair> pairs = pairs_of(a, b);
    JobComparison comparison;
    for (const auto& [rank, pair] : pairs) {
        comparison.ranks.push_back(change_of(rank, pair));
    }
    const auto weight = [](const RankChange& change) {
        return std::tuple(std::abs(change.peak.difference()), std::abs(change.end.difference()));
    };
    const auto most = std::max_element(comparison.ranks.begin(), comparison.ranks.end(),
                                       [&](const auto& x, const auto& y) { return weight(x) < weight(y); });
    if (most != comparison.ranks.end() && weight(*most) != std::tuple<int64_t, int64_t>()) {
        comparison.most_changed = static_cast<size_t>(most - comparison.ranks.begin());
        comparison.sites = sites_of(pairs.at(most->rank));
    }
    return comparison;
}

}  // namespace tidemark
