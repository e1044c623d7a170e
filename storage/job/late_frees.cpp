// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Ranks that free the memory of a line later than the others, so that it is part of their peak.
#include <algorithm>

#include "storage/base/units.h"
#include "storage/job/rank_set.h"

namespace tidemark {
namespace {

/// Returns whether the site exists on the other rank, which had freed its memory by its peak, and earlier.
bool is_freed_earlier(const SiteMemory& site, const DeviceSummary& other) {
    const SiteMemory* same = find_site(other, site.line);
    constexpr int64_t part = 10, longer = 2;
    return same != nullptr && same->at_peak < site.at_peak / part && same->median_lifetime > 0 &&
           site.median_lifetime > longer * same->median_lifetime;
}

/// Returns how many ranks free the memory of the site earlier.
size_t ranks_that_free_earlier(const RankSet& ranks, size_t late, const SiteMemory& site) {
    size_t count = 0;
    for (size_t i = 0; i < ranks.size(); ++i) {
        count += i != late && is_freed_earlier(site, ranks.device(i));
    }
    return count;
}

JobFinding late_free(const RankSet& ranks, size_t late, const SiteMemory& site, size_t earlier) {
    const Words& words = ranks.words();
    const std::string name = member_name(ranks.member(late), words);
    JobFinding finding;
    finding.kind = JobFindingKind::late_free;
    finding.severity = Severity::waste;
    finding.members = {ranks.position(late)};
    finding.bytes = site.at_peak;
    finding.line = site.line;
    finding.referrer = referrer_of(ranks.device(late), site.line, words);
    finding.title = words("{rank} frees {bytes} of {line} later than the other ranks", with("rank", name),
                          with("bytes", format_bytes(site.at_peak)), with("line", site.line));
    finding.text.push_back(words.plural(
        static_cast<int64_t>(earlier),
        "The memory lives for {time} there, half of the time on the rank that frees it before its peak. At the peak of "
        "{rank} it is still allocated.",
        "The memory lives for {time} there. {n} ranks free it in less than half of the time, before their peaks. At "
        "the peak of {rank} it is still allocated.",
        with("time", format_duration(site.median_lifetime)), with("rank", name)));
    finding.fix.text = words("Free it where the other ranks do.");
    return finding;
}

}  // namespace

void find_late_frees(const RankSet& ranks, std::vector<JobFinding>& findings) {
    constexpr int64_t part_of_peak = 20;
    if (ranks.size() < 2) {
        return;
    }
    for (const size_t i : ranks.with_more([](const DeviceSummary& device) { return device.peak_allocated; })) {
        for (const SiteMemory& site : ranks.device(i).sites) {
            const size_t earlier = ranks_that_free_earlier(ranks, i, site);
            if (site.at_peak * part_of_peak > ranks.device(i).peak_allocated && earlier * 2 > ranks.size() - 1 &&
                leak_at(ranks.device(i), site.line) == nullptr) {
                findings.push_back(late_free(ranks, i, site, earlier));
            }
        }
    }
}

}  // namespace tidemark
