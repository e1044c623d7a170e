// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Ranks that retain more than the others, need more at their peak, or hold another part of the model.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>

#include "storage/base/units.h"
#include "storage/job/rank_set.h"
#include "storage/job/uneven_batches.h"
#include "storage/text/fact_words.h"

namespace tidemark {
namespace {

/// When the memory of a site is compared.
enum class When : uint8_t { at_end, at_peak };

int64_t bytes_of(const SiteMemory& site, When when) { return when == When::at_end ? site.at_end : site.at_peak; }

struct SiteDifference {
    const DeviceSummary* device = nullptr;
    const SiteMemory* site = nullptr;
    int64_t more = 0;
};

/// Returns the sites that have more on `rank` than on `usual`, most first.
std::vector<SiteDifference> sites_with_more(const DeviceSummary& rank, const DeviceSummary& usual, When when) {
    std::vector<SiteDifference> differences;
    for (const SiteMemory& site : rank.sites) {
        const SiteMemory* same = find_site(usual, site.line);
        const int64_t more = bytes_of(site, when) - (same == nullptr ? 0 : bytes_of(*same, when));
        if (more > 0) {
            differences.push_back({&rank, &site, more});
        }
    }
    std::stable_sort(differences.begin(), differences.end(),
                     [](const auto& a, const auto& b) { return a.more > b.more; });
    return differences;
}

/// Returns whether the category of a site's largest block says what all of its memory is for.
bool is_telling(Category category) {
    return category == Category::parameter || category == Category::gradient || category == Category::optimizer_state ||
           category == Category::saved || category == Category::communication || category == Category::unsharded;
}

/// "1.20 GiB from train.py:31 main (retained by `board.predicted`)"
std::string site_phrase(const SiteDifference& difference, const Words& words) {
    const SiteMemory& site = *difference.site;
    const std::string text =
        words("{bytes} from {line}", with("bytes", format_bytes(difference.more)), with("line", site.line));
    if (const std::string referrer = referrer_of(*difference.device, site.line, words); !referrer.empty()) {
        return words("{memory} (retained by {referrer})", with("memory", text), with("referrer", referrer));
    }
    return is_telling(site.category) ? words("{memory} ({category})", with("memory", text),
                                             with("category", category_name(words, site.category)))
                                     : text;
}

/// `total`: by how many bytes the ranks differ. The sites can have more, where other sites have less.
std::string sites_sentence(const std::vector<SiteDifference>& differences, int64_t total, const Words& words) {
    constexpr size_t most = 3;
    constexpr int64_t least_part = 20;
    std::vector<std::string> phrases;
    int64_t more = 0;
    for (size_t i = 0; i < std::min(most, differences.size()); ++i) {
        if (i == 0 || differences[i].more * 10 >= differences[0].more) {
            phrases.push_back(site_phrase(differences[i], words));
            more += differences[i].more;
        }
    }
    const auto sites = with("sites", words.list(phrases)), rest = with("bytes", format_bytes(std::abs(more - total)));
    return (more - total) * least_part > total
               ? words("The difference: {sites}; other lines have {bytes} less.", sites, rest)
           : (total - more) * least_part > total
               ? words("The difference: {sites}; other lines have {bytes} more.", sites, rest)
               : words("The difference: {sites}.", sites);
}

/// Adds what the rank's own trace says of the line.
void add_finding_of_trace(JobFinding& finding, const FindingSummary& own, const Words& words) {
    const FindingTexts& texts = texts_in(own, words);
    finding.referrer = texts.referrer.empty() ? finding.referrer : texts.referrer;
    finding.of_trace = own.kind;
    finding.text.push_back(texts.detail);
    finding.fix = texts.fix;
}

void add_leak(JobFinding& finding, const FindingSummary& leak, const Words& words) {
    finding.kind = JobFindingKind::rank_growth;
    finding.severity = Severity::leak;
    finding.per_iteration = leak.per_iteration;
    add_finding_of_trace(finding, leak, words);
}

/// Ranks that differ by the same line.
using ByLine = std::map<std::string, std::vector<size_t>>;

ByLine ranks_by_line(const RankSet& ranks, const std::vector<size_t>& more, const DeviceSummary& usual, When when) {
    ByLine by_line;
    for (const size_t i : more) {
        const auto differences = sites_with_more(ranks.device(i), usual, when);
        by_line[differences.empty() ? "" : differences.front().site->line].push_back(i);
    }
    return by_line;
}

/// Returns "rank 1" or "the other ranks".
std::string others_phrase(const RankSet& ranks, const std::vector<size_t>& some, size_t usual) {
    const Words& words = ranks.words();
    return ranks.size() == some.size() + 1 ? ranks_phrase(ranks.job(), {ranks.position(usual)}, words)
                                           : words("most other ranks");
}

int64_t allocated_at_end(const DeviceSummary& device) { return device.allocated_at_end; }
int64_t peak_allocated(const DeviceSummary& device) { return device.peak_allocated; }

JobFinding retained_more(const RankSet& ranks, const std::vector<size_t>& some, size_t usual) {
    const Words& words = ranks.words();
    const DeviceSummary& device = ranks.device(some.front());
    const auto differences = sites_with_more(device, ranks.device(usual), When::at_end);
    JobFinding finding;
    finding.kind = JobFindingKind::rank_imbalance;
    finding.severity = Severity::waste;
    finding.members = ranks.positions(some);
    finding.bytes = device.allocated_at_end - ranks.device(usual).allocated_at_end;
    const auto who = with("ranks", ranks_phrase(ranks.job(), finding.members, words));
    const auto more = with("bytes", format_bytes(finding.bytes));
    const auto others = with("others", others_phrase(ranks, some, usual));
    if (differences.empty()) {
        finding.title = words.plural(static_cast<int64_t>(some.size()), "{ranks} retains {bytes} more than {others}",
                                     "{ranks} retain {bytes} more than {others}", who, more, others);
        return finding;
    }
    const SiteMemory& site = *differences.front().site;
    finding.line = site.line;
    finding.referrer = referrer_of(device, site.line, words);
    finding.text.push_back(sites_sentence(differences, finding.bytes, words));
    if (const FindingSummary* leak = leak_at(device, site.line)) {
        add_leak(finding, *leak, words);
    } else if (const FindingSummary* waste = waste_at(device, site.line)) {
        add_finding_of_trace(finding, *waste, words);
    }
    const auto what = with("what", finding.referrer.empty() ? finding.line : finding.referrer);
    finding.title =
        words.plural(static_cast<int64_t>(some.size()), "{ranks} retains {bytes} more than {others}: {what}",
                     "{ranks} retain {bytes} more than {others}: {what}", who, more, others, what);
    return finding;
}

std::string phase_sentence(const RankSet& ranks, size_t i, size_t usual) {
    const Words& words = ranks.words();
    const std::string &phase = ranks.device(i).peak_phase, &other = ranks.device(usual).peak_phase;
    if (phase.empty() || other.empty() || phase == other) {
        return {};
    }
    const auto name = [&](const std::string& word) { return group_words(words, GroupBy::phase, word); };
    return words("Its peak is in another phase: {phase}; that of {others}: {other}.", with("phase", name(phase)),
                 with("others", ranks_phrase(ranks.job(), {ranks.position(usual)}, words)), with("other", name(other)));
}

/// Says that ranks work on larger tensors, if the line allocates about as often on the usual one.
void add_uneven_batches(JobFinding& finding, const RankSet& ranks, const std::vector<size_t>& some, size_t usual) {
    const Words& words = ranks.words();
    const SiteMemory* site = find_site(ranks.device(some.front()), finding.line);
    const SiteMemory* same = find_site(ranks.device(usual), finding.line);
    const auto factor = site == nullptr || same == nullptr ? std::nullopt : larger_by(*site, *same);
    if (factor) {
        finding.text.push_back(
            words("{line} allocates about as often on {others}, but {factor} times as much on {ranks}: the batches "
                  "or sequences are larger there.",
                  with("line", finding.line), with("others", others_phrase(ranks, some, usual)),
                  with("factor", fmt::format("{:.1f}", *factor)),
                  with("ranks", ranks_phrase(ranks.job(), finding.members, words))));
        finding.fix.text =
            words("Distribute long samples evenly, so that the batches of all ranks need about the same.");
    }
}

JobFinding higher_peak(const RankSet& ranks, const std::vector<size_t>& some, size_t usual) {
    const Words& words = ranks.words();
    const DeviceSummary& device = ranks.device(some.front());
    const auto differences = sites_with_more(device, ranks.device(usual), When::at_peak);
    JobFinding finding;
    finding.kind = JobFindingKind::peak_imbalance;
    finding.severity = Severity::pattern;
    finding.members = ranks.positions(some);
    finding.bytes = device.peak_allocated - ranks.device(usual).peak_allocated;
    finding.title =
        words.plural(static_cast<int64_t>(some.size()), "{ranks} needs {bytes} more at its peak than {others}",
                     "{ranks} need {bytes} more at their peaks than {others}",
                     with("ranks", ranks_phrase(ranks.job(), finding.members, words)),
                     with("bytes", format_bytes(finding.bytes)), with("others", others_phrase(ranks, some, usual)));
    if (!differences.empty()) {
        finding.line = differences.front().site->line;
        finding.text.push_back(sites_sentence(differences, finding.bytes, words));
        add_uneven_batches(finding, ranks, some, usual);
    }
    if (const std::string sentence = phase_sentence(ranks, some.front(), usual); !sentence.empty()) {
        finding.text.push_back(sentence);
    }
    return finding;
}

/// Ranks of data parallelism have parameters of the same names and sizes, whole or in equal shards.
bool hold_different_parts(const RankSet& ranks) {
    bool has_other_names = false;
    int64_t least = INT64_MAX, most = 0;
    for (size_t i = 0; i < ranks.size(); ++i) {
        has_other_names |= ranks.device(i).parameter_names != ranks.device(0).parameter_names;
        least = std::min(least, ranks.device(i).parameters);
        most = std::max(most, ranks.device(i).parameters);
    }
    // A model has other names where it is used through a wrapper, but then it has the same size.
    return least > 0 && ((has_other_names && most != least) || most - least > most / 10);
}

JobFinding stages(const RankSet& ranks) {
    const Words& words = ranks.words();
    std::vector<size_t> order(ranks.size());
    for (size_t i = 0; i < order.size(); ++i) {
        order[i] = i;
    }
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
        return ranks.device(a).peak_allocated > ranks.device(b).peak_allocated;
    });
    const DeviceSummary &most = ranks.device(order.front()), &least = ranks.device(order.back());
    JobFinding finding;
    finding.kind = JobFindingKind::stage_imbalance;
    finding.severity = Severity::pattern;
    finding.members = ranks.positions(order);
    finding.bytes = most.peak_allocated - least.peak_allocated;
    finding.title =
        words("the ranks hold different parts of the model, and {most} needs {bytes} more than {least}",
              with("most", member_name(ranks.member(order.front()), words)), with("bytes", format_bytes(finding.bytes)),
              with("least", member_name(ranks.member(order.back()), words)));
    constexpr size_t most_listed = 8;
    std::vector<std::string> parts;
    for (size_t i = 0; i < std::min(most_listed, ranks.size()); ++i) {
        parts.push_back(words("{rank}: {peak}, of them parameters {parameters}",
                              with("rank", member_name(ranks.member(i), words)),
                              with("peak", format_bytes(ranks.device(i).peak_allocated)),
                              with("parameters", format_bytes(ranks.device(i).parameters))));
    }
    finding.text.push_back(words("Peaks: {parts}.", with("parts", words.list(parts))));
    const auto differences = sites_with_more(most, least, When::at_peak);
    if (!differences.empty()) {
        finding.line = differences.front().site->line;
        finding.text.push_back(sites_sentence(differences, finding.bytes, words));
    }
    finding.fix.text = words(
        "If this stage limits the size of batches: move layers from it to the others, or give it fewer microbatches in "
        "flight.");
    return finding;
}

/// Returns whether a rank has more at its end only because its last step was not over, or its results are larger. While
/// it is being recorded, it is in the midst of a step.
bool is_rest_of_last_step(const RankSet& ranks, size_t i, const std::string& line) {
    const ProcessSummary& process = *ranks.member(i).summary;
    const SiteMemory* site = find_site(ranks.device(i), line);
    return process.is_being_written || (site != nullptr && is_of_each_step(process, *site));
}

bool explains(const std::vector<JobFinding>& findings, size_t member) {
    return std::any_of(findings.begin(), findings.end(), [&](const JobFinding& finding) {
        return std::find(finding.members.begin(), finding.members.end(), member) != finding.members.end();
    });
}

}  // namespace

void find_imbalance(const RankSet& ranks, std::vector<JobFinding>& findings) {
    if (ranks.size() < 2) {
        return;
    }
    const size_t by_end = ranks.usual(allocated_at_end), by_peak = ranks.usual(peak_allocated);
    const bool are_stages = hold_different_parts(ranks);
    std::vector<JobFinding> retained;
    for (const auto& [line, some] :
         ranks_by_line(ranks, ranks.with_more(allocated_at_end), ranks.device(by_end), When::at_end)) {
        JobFinding finding = retained_more(ranks, some, by_end);
        const bool stays = !are_stages && !is_rest_of_last_step(ranks, some.front(), line);
        if (stays || finding.severity == Severity::leak) {
            retained.push_back(std::move(finding));
        }
    }
    const std::vector<size_t> more = ranks.with_more(peak_allocated);
    if (are_stages && !more.empty()) {
        retained.push_back(stages(ranks));
    } else {
        for (const auto& [line, some] : ranks_by_line(ranks, more, ranks.device(by_peak), When::at_peak)) {
            const size_t member = ranks.position(some.front());
            if (!explains(retained, member) && !explains(findings, member)) {
                retained.push_back(higher_peak(ranks, some, by_peak));
            }
        }
    }
    std::move(retained.begin(), retained.end(), std::back_inserter(findings));
}

}  // namespace tidemark
