// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/breakdown/sample_fit.h"

#include <algorithm>
#include <cstdlib>
#include <set>

namespace tidemark {

namespace {

/// A change of memory in this time around a sample may be in its figure or not. The record of an allocation is later
/// than its memory by the duration of the driver call.
constexpr int64_t before_ns = 2'000'000, after_ns = 20'000'000;
/// NVML counts in pages; smaller differences are noise.
constexpr int64_t noise = 1 << 20;

/// A sample with the certain memory that its figure may contain.
struct Candidate {
    const DeviceSample* sample;
    std::vector<int64_t> certain;  ///< the value at its time first
    int64_t estimated;

    bool is_quiet() const { return certain.size() == 1; }
    /// Returns the figure that is not disturbed by other processes, if there is one.
    int64_t figure() const { return sample->own.value_or(sample->used); }
    int64_t unexplained(int64_t with_certain) const { return figure() - with_certain - estimated; }
};

Candidate candidate_of(const DeviceSample& sample, const Amount& certain, int64_t estimated) {
    const int64_t at_its_time = certain.at(sample.time).bytes;
    std::set<int64_t> others;
    certain.for_each_value(sample.time - before_ns, sample.time + after_ns,
                           [&](int64_t bytes) { others.insert(bytes); });
    others.erase(at_its_time);
    Candidate candidate{&sample, {at_its_time}, estimated};
    candidate.certain.insert(candidate.certain.end(), others.begin(), others.end());
    return candidate;
}

/// Returns the quiet candidate nearest in time with figures of the same kind; nullptr if there is none.
const Candidate* reference_of(const std::vector<Candidate>& all, size_t position) {
    const auto fits = [&](size_t i) {
        return all[i].is_quiet() && all[i].sample->own.has_value() == all[position].sample->own.has_value();
    };
    constexpr size_t reach = 64;
    size_t before = position, after = position;
    while (before > 0 && position - before < reach && !fits(before)) {
        --before;
    }
    while (after + 1 < all.size() && after - position < reach && !fits(after)) {
        ++after;
    }
    const int64_t time = all[position].sample->time;
    if (!fits(before) || (fits(after) && all[after].sample->time - time < time - all[before].sample->time)) {
        return fits(after) ? &all[after] : nullptr;
    }
    return &all[before];
}

/// Returns the certain memory that the sample's figure contains. A value other than that of its time must explain
/// clearly more. If the figure is too small for each of them, the estimates are wrong and tell nothing.
int64_t best_certain(const Candidate& candidate, const Candidate* reference) {
    const bool is_comparable = reference != nullptr || candidate.estimated > 0;
    const int64_t expected = reference != nullptr ? reference->unexplained(reference->certain.front()) : 0;
    const auto deviation = [&](int64_t certain) {
        const int64_t impossible = std::max<int64_t>(certain - candidate.figure(), 0);
        return is_comparable ? std::abs(candidate.unexplained(certain) - expected) + impossible : impossible;
    };
    int64_t best = candidate.certain.front();
    for (const int64_t certain : candidate.certain) {
        if (deviation(certain) + noise <= deviation(best)) {
            best = certain;
        }
    }
    const bool is_too_small = is_comparable && candidate.unexplained(best) - expected < -noise;
    return is_too_small && candidate.certain.front() <= candidate.figure() ? candidate.certain.front() : best;
}

}  // namespace

SampleFit::SampleFit(const DeviceSamples& samples, const Amount& certain,
                     const std::function<int64_t(int64_t)>& estimated) {
    std::vector<Candidate> candidates;
    for (const DeviceSample& sample : samples.all()) {
        candidates.push_back(candidate_of(sample, certain, estimated(sample.time)));
    }
    for (size_t i = 0; i < candidates.size(); ++i) {
        const Candidate& candidate = candidates[i];
        const int64_t known =
            candidate.is_quiet() ? candidate.certain.front() : best_certain(candidate, reference_of(candidates, i));
        const DeviceSample& sample = *candidate.sample;
        if (sample.used + noise < known) {
            ++contradictions_;
            continue;
        }
        FittedSample fitted{sample.time, std::max<int64_t>(sample.used - known, 0), std::nullopt, &sample};
        if (sample.own) {
            fitted.own_rest = std::clamp<int64_t>(*sample.own - known, 0, fitted.rest);
        }
        fitted_.push_back(fitted);
    }
}

const FittedSample* SampleFit::nearest(int64_t time) const {
    const auto after = std::upper_bound(fitted_.begin(), fitted_.end(), time,
                                        [](int64_t t, const FittedSample& sample) { return t < sample.time; });
    if (after == fitted_.begin()) {
        return !fitted_.empty() && after->time - time <= sample_reach_ns ? &*after : nullptr;
    }
    const auto before = std::prev(after);
    return after != fitted_.end() && after->time - time < time - before->time ? &*after : &*before;
}

const FittedSample* SampleFit::first_of_process() const {
    const auto found = std::find_if(fitted_.begin(), fitted_.end(),
                                    [](const FittedSample& fitted) { return fitted.sample->own.value_or(0) > 0; });
    return found == fitted_.end() ? nullptr : &*found;
}

}  // namespace tidemark
