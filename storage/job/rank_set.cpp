// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/job/rank_set.h"

#include <algorithm>

namespace tidemark {

namespace {

/// Ranks that do the same differ by less: by caches, padding, and the last rank's smaller batch.
constexpr int64_t least_difference = 4 << 20;
constexpr int64_t least_fraction = 20;  ///< 1 / 20

}  // namespace

RankSet::RankSet(const Job& job, const Words& words) : job_(job), words_(words) {
    const auto is_rank = [](const JobMember& member) { return member.is_rank() && member.device() != nullptr; };
    are_ranks_ = std::any_of(job.members.begin(), job.members.end(), is_rank);
    for (size_t i = 0; i < job.members.size(); ++i) {
        if (are_ranks_ ? is_rank(job.members[i]) : job.members[i].device() != nullptr) {
            ranks_.push_back(i);
        }
    }
}

std::vector<size_t> RankSet::positions(const std::vector<size_t>& some) const {
    std::vector<size_t> positions;
    positions.reserve(some.size());
    for (const size_t i : some) {
        positions.push_back(ranks_[i]);
    }
    return positions;
}

size_t RankSet::usual(const std::function<int64_t(const DeviceSummary&)>& value) const {
    std::vector<size_t> order(size());
    for (size_t i = 0; i < order.size(); ++i) {
        order[i] = i;
    }
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return value(device(a)) < value(device(b)); });
    return order[(order.size() - 1) / 2];
}

std::vector<size_t> RankSet::with_more(const std::function<int64_t(const DeviceSummary&)>& value) const {
    const int64_t usual_value = value(device(usual(value)));
    const int64_t least = std::max(least_difference, usual_value / least_fraction);
    std::vector<size_t> more;
    for (size_t i = 0; i < size(); ++i) {
        if (value(device(i)) - usual_value > least) {
            more.push_back(i);
        }
    }
    std::stable_sort(more.begin(), more.end(), [&](size_t a, size_t b) { return value(device(a)) > value(device(b)); });
    return more;
}

const SiteMemory* find_site(const DeviceSummary& device, std::string_view line) {
    const auto found = std::find_if(device.sites.begin(), device.sites.end(),
                                    [&](const SiteMemory& site) { return site.line == line; });
    return found == device.sites.end() ? nullptr : &*found;
}

const FindingSummary* leak_at(const DeviceSummary& device, const std::string& line) {
    const auto found = std::find_if(device.findings.begin(), device.findings.end(), [&](const FindingSummary& finding) {
        return finding.is_gpu_leak && !finding.is_slow && finding.line == line;
    });
    return found == device.findings.end() ? nullptr : &*found;
}

const FindingSummary* waste_at(const DeviceSummary& device, const std::string& line) {
    const auto found = std::find_if(device.findings.begin(), device.findings.end(), [&](const FindingSummary& finding) {
        return finding.severity == Severity::waste && finding.line == line;
    });
    return found == device.findings.end() ? nullptr : &*found;
}

const FindingTexts& texts_in(const FindingSummary& finding, const Words& words) {
    return finding.texts[static_cast<size_t>(words.language())];
}

std::string referrer_of(const DeviceSummary& device, const std::string& line, const Words& words) {
    for (const FindingSummary& finding : device.findings) {
        if (finding.line == line && !texts_in(finding, words).referrer.empty()) {
            return texts_in(finding, words).referrer;
        }
    }
    return {};
}

}  // namespace tidemark
