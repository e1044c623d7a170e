// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/report/difference.h"

#include <algorithm>
#include <cstdlib>

#include "storage/base/units.h"
#include "storage/text/fact_words.h"

namespace tidemark {
namespace {

/// Returns where the memory of a row is: "58 allocations, only in A".
std::string where(const CompareRow& row, const Words& words) {
    switch (row.change()) {
        case RowChange::only_a:
            return words.plural(row.a.count, "{n} allocation, only in A", "{n} allocations, only in A");
        case RowChange::only_b:
            return words.plural(row.b.count, "{n} allocation, only in B", "{n} allocations, only in B");
        default: break;
    }
    return words("{a} in A, {b} in B", with("a", format_bytes(row.a.bytes)), with("b", format_bytes(row.b.bytes)));
}

bool is_same(const Finding& a, const Finding& b, std::span<const RenamedFile> renamed) {
    return a.kind == b.kind && without_line_number(named_as_in_b(a.line, renamed)) == without_line_number(b.line);
}

}  // namespace

ComparedTimes both_at_their_peak(const Words& words) { return {words("at its peak"), words("at its peak")}; }

std::string difference_sentence(const Comparison& comparison, const ComparedTimes& when, const Words& words) {
    const int64_t difference = comparison.difference();
    const auto a = with("a", format_bytes(comparison.a.bytes)), b = with("b", format_bytes(comparison.b.bytes));
    if (difference == 0) {
        return words("A and B have the same amount of memory: {a}.", a);
    }
    const auto bytes = with("bytes", format_bytes(std::abs(difference)));
    const auto when_a = with("when_a", when.a), when_b = with("when_b", when.b);
    if (when.a == when.b) {
        return difference > 0
                   ? words("B has {bytes} more than A, each {when_b}: {b} instead of {a}.", bytes, when_b, a, b)
                   : words("B has {bytes} less than A, each {when_b}: {b} instead of {a}.", bytes, when_b, a, b);
    }
    return difference > 0
               ? words("B {when_b} has {bytes} more than A {when_a}: {b} instead of {a}.", bytes, when_a, when_b, a, b)
               : words("B {when_b} has {bytes} less than A {when_a}: {b} instead of {a}.", bytes, when_a, when_b, a, b);
}

std::string largest_difference_sentence(const Comparison& comparison, GroupBy by, const Words& words) {
    if (comparison.rows.empty() || comparison.rows.front().difference() == 0) {
        return {};
    }
    const CompareRow& largest = comparison.rows.front();
    const std::string sign = largest.difference() > 0 ? "+" : "";
    return words("The largest difference, {bytes}, is from {name} ({where}).",
                 with("bytes", sign + format_bytes(largest.difference())),
                 with("name", group_words(words, by, largest.name)), with("where", where(largest, words)));
}

std::string renamed_files_sentence(const Comparison& comparison, const Words& words) {
    std::vector<std::string> sentences;
    for (const RenamedFile& file : comparison.renamed) {
        sentences.push_back(words("{b} of B counts as {a} of A: most of their lines or functions are equal.",
                                  with("a", file.a), with("b", file.b)));
    }
    return words.sentences(sentences);
}

bool costs_memory(const Finding& finding) { return finding.severity < Severity::pattern; }

bool is_only_in_b(const Finding& of_b, std::span<const Finding> of_a, std::span<const RenamedFile> renamed) {
    return std::none_of(of_a.begin(), of_a.end(),
                        [&](const Finding& finding) { return is_same(finding, of_b, renamed); });
}

bool is_only_in_a(const Finding& of_a, std::span<const Finding> of_b, std::span<const RenamedFile> renamed) {
    return std::none_of(of_b.begin(), of_b.end(),
                        [&](const Finding& finding) { return is_same(of_a, finding, renamed); });
}

}  // namespace tidemark
