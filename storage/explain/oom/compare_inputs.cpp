// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// What is unusual about the failed iteration: its input compared with inputs that fit, and the largest that would have
// fitted.
#include <cmath>

#include "storage/base/units.h"
#include "storage/explain/finding_parts.h"
#include "storage/explain/oom/oom_answer.h"

namespace tidemark {
namespace {

constexpr double least_difference = 0.02;
/// Memory that was added since the last iteration must be at least this part of the memory in use.
constexpr double least_added = 0.05;

std::string number(double value) {
    return value < 10 ? fmt::format("{:.2g}", value) : format_count(std::llround(value));
}

bool is_other_size(double ratio) { return std::abs(ratio - 1) > least_difference; }

std::string name_of(const OomCase& oom, const Words& words, const InputComparison& comparison) {
    return iteration_name(oom.context().iterations(), words, static_cast<int64_t>(comparison.iteration));
}

/// Returns whether sites of the failed iteration grow with the square of the input.
bool has_square(const InputComparison& comparison) {
    for (const auto& [key, size] : comparison.failed) {
        if (growth_power(key, comparison.failed, comparison.base, comparison.ratio) == 2) {
            return true;
        }
    }
    return false;
}

/// Names the request if it is larger than that of the same site before: a tensor that collects.
std::string grown_words(const OomCase& oom, const Words& words, const InputComparison& last) {
    const auto before = last.base.find(oom.sizes().key_of_request());
    if (before == last.base.end() || before->second >= oom.oom().size) {
        return {};
    }
    return words("The request of {asked} is larger than the {bytes} that the same line requested then.",
                 with("asked", format_bytes(oom.analysis().requested())),
                 with("bytes", format_bytes(static_cast<int64_t>(before->second))));
}

std::string size_words(const OomCase& oom, const Words& words, const InputComparison& last) {
    const auto iteration = with("iteration", name_of(oom, words, last));
    const auto ratio = with("ratio", number(last.ratio));
    if (!is_other_size(last.ratio)) {
        const std::string grown = grown_words(oom, words, last);
        return words.sentences(
            {grown.empty()
                 ? words("This iteration's tensors have the same sizes as those of {iteration}, the last that fit.",
                         iteration)
                 : words("Most of this iteration's tensors have the same sizes as those of {iteration}, the last that "
                         "fit.",
                         iteration),
             grown});
    }
    std::string text = words(
        "This iteration's input is {ratio} times as large as that of {iteration}, the last that fit: the same lines "
        "allocated {ratio} times as much.",
        ratio, iteration);
    if (has_square(last)) {
        text = words.sentences({text, words("Some tensors are {square} times as large: they grow with the square of "
                                            "the input.",
                                            with("square", number(last.ratio * last.ratio)))});
    }
    return text;
}

std::string added_words(const OomCase& oom, const Words& words, const InputComparison& last) {
    if (static_cast<double>(last.bytes_before) < least_added * static_cast<double>(oom.in_use())) {
        return {};
    }
    return words("When this iteration began, {bytes} more were in use than when {iteration} began.",
                 with("bytes", format_bytes(last.bytes_before)), with("iteration", name_of(oom, words, last)));
}

std::optional<LargestInput> find_largest(const OomCase& oom) {
    const auto& compared = oom.with_largest();
    return compared && oom.capacity()
               ? largest_input(oom.context(), oom.sizes(), *oom.iteration(), *compared, *oom.capacity())
               : std::nullopt;
}

std::string largest_words(const OomCase& oom, const Words& words, const LargestInput& largest) {
    const InputComparison& compared = *oom.with_largest();
    return words(
        "An estimate from the peak of {iteration}: an input of up to {part} times this one's size, or {times} "
        "times that of {iteration}, would have fitted.",
        with("iteration", name_of(oom, words, compared)), with("part", fmt::format("{:.2f}", largest.of_failed)),
        with("times", number(largest.of_iteration)));
}

/// Returns evidence for the end of the last iteration that fit. A loop's last iteration contains the error, if the
/// failed request would have begun the next one.
Evidence end_of_last(const OomCase& oom, const Words& words, const InputComparison& last) {
    const AnalysisContext& context = oom.context();
    Evidence evidence =
        at_iteration(context, context.iterations(),
                     words("The end of {iteration}, the last that fit", with("iteration", name_of(oom, words, last))),
                     static_cast<int64_t>(last.iteration));
    if (evidence.event > oom.began()) {
        evidence.event = oom.began();
        evidence.until = context.device().time_of_state(oom.began());
    }
    return evidence;
}

/// A request that is larger than this multiple of all others of its site shows a larger input. A tensor that collects
/// grows in smaller steps.
constexpr double least_jump = 1.5;

/// Returns how many times as large as all others of its site the request is; 0 if there is no other.
double jump_of(const OomCase& oom) {
    const auto served = static_cast<double>(oom.sizes().largest_served());
    return served > 0 ? static_cast<double>(oom.oom().size) / served : 0;
}

void add_limit(const Words& words, OomAnswer& answer) {
    add_fix(answer, words("Limit the input: a smaller batch, inputs grouped by size, or long ones cropped or split."),
            "");
}

/// Compares only the request, if the iterations have no common ratio.
void compare_request(const OomCase& oom, const Words& words, OomAnswer& answer) {
    const double ratio = jump_of(oom);
    if (ratio < least_jump) {
        return;
    }
    answer.text.push_back(words(
        "The request is {ratio} times as large as the largest that the same line made before, {bytes}: this "
        "input is larger than all before it.",
        with("ratio", number(ratio)), with("bytes", format_bytes(static_cast<int64_t>(oom.sizes().largest_served())))));
    add_limit(words, answer);
}

}  // namespace

void oom_advice::compare_inputs(const OomCase& oom, const Words& words, OomAnswer& answer, Progress&) {
    const auto& last = oom.with_last();
    if (!last) {
        compare_request(oom, words, answer);
        return;
    }
    const auto largest = find_largest(oom);
    answer.text.push_back(words.sentences({size_words(oom, words, *last), added_words(oom, words, *last),
                                           largest ? largest_words(oom, words, *largest) : std::string()}));
    if (largest && is_other_size(oom.with_largest()->ratio)) {
        add_fix(answer,
                words("Limit the input to {part} of this one: a smaller batch, inputs grouped by size, or long ones "
                      "cropped or split.",
                      with("part", Words::percent(largest->of_failed))),
                "");
    } else if (!is_other_size(last->ratio) && jump_of(oom) >= least_jump && oom.context().suspects().empty()) {
        // One of several inputs is larger, such as the number of objects in an image.
        add_limit(words, answer);
    }
    answer.evidence.push_back(end_of_last(oom, words, *last));
}

}  // namespace tidemark
