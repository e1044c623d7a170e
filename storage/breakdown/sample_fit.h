// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Compares each NVML sample with the recorded memory of its time.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "storage/breakdown/amount.h"
#include "storage/breakdown/device_samples.h"

namespace tidemark {

/// What a sample shows beyond the memory whose size is certain: context, kernels, other processes and the unexplained.
struct FittedSample {
    int64_t time = 0;
    int64_t rest = 0;                 ///< of the device, never negative
    std::optional<int64_t> own_rest;  ///< of the recorded process, at most `rest`
    const DeviceSample* sample = nullptr;
};

/// A reading of NVML takes time, and so does a driver call: a segment that appears near a sample may be in its figure
/// or not. Such a sample gets the reading that agrees with the nearest sample without changes around it.
class SampleFit {
public:
    /// `certain`: memory known by its allocation. `estimated`: returns memory at a time whose size is inferred.
    /// Keeps references to the samples.
    SampleFit(const DeviceSamples& samples, const Amount& certain, const std::function<int64_t(int64_t)>& estimated);

    /// Returns the sample nearest in time; nullptr if there is none, or if the first one is much later.
    const FittedSample* nearest(int64_t time) const;
    /// Returns the first sample that lists the recorded process with memory; nullptr if there is none.
    const FittedSample* first_of_process() const;
    /// Returns the number of samples that show less than the program had allocated for certain. They are not used.
    int64_t contradictions() const { return contradictions_; }

private:
    std::vector<FittedSample> fitted_;
    int64_t contradictions_ = 0;
};

/// Before the first sample its figures hold for this time, as between two samples.
constexpr int64_t sample_reach_ns = 200'000'000;

}  // namespace tidemark
