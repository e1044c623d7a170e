// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// What differs between two runs, in sentences: the command and the window say the same.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "storage/compare/compare.h"
#include "storage/explain/explanation.h"
#include "storage/text/words.h"

namespace tidemark {

/// The compared points in words: "at its peak".
struct ComparedTimes {
    std::string a, b;
};
ComparedTimes both_at_their_peak(const Words& words);

/// Returns "B has 349 MiB less than A, each at its peak: 107 MiB instead of 456 MiB."
std::string difference_sentence(const Comparison& comparison, const ComparedTimes& when, const Words& words);
/// Returns "The largest difference, -291 MiB, is from train.py:41 step (58 allocations, only in A)."; "" if no group
/// differs. `by`: the grouping of the comparison.
std::string largest_difference_sentence(const Comparison& comparison, GroupBy by, const Words& words);
/// Returns "train_fixed.py of B counts as train.py of A: most of their functions are equal."; "" if no file is renamed.
std::string renamed_files_sentence(const Comparison& comparison, const Words& words);

/// Returns whether the finding is a leak, a failure or waste.
bool costs_memory(const Finding& finding);
/// Returns whether no finding of A has the same kind and function.
bool is_only_in_b(const Finding& of_b, std::span<const Finding> of_a, std::span<const RenamedFile> renamed);
/// Returns whether no finding of B has the same kind and function.
bool is_only_in_a(const Finding& of_a, std::span<const Finding> of_b, std::span<const RenamedFile> renamed);

}  // namespace tidemark
