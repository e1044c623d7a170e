// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// What a job needs to know of the trace of one process: a few kilobytes instead of the trace. Bytes are those of
// blocks; times are ns since the trace's start.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "storage/explain/explanation.h"
#include "storage/trace/trace.h"

namespace tidemark {

/// The memory of one allocation site.
struct SiteMemory {
    std::string line;                       ///< "train.py:31 main", as in AttributionGroup
    Category category = Category::unknown;  ///< of most of its bytes at the peak, or at the end
    int64_t at_peak = 0, at_end = 0;
    int64_t allocated = 0;        ///< the number of all its allocations
    int64_t median_lifetime = 0;  ///< ns, of those that were freed; 0: none was
};

/// The first fix of a finding, as in Fix.
struct FixTexts {
    std::string text, code, diff;
};

/// The sentences of a finding in one language.
struct FindingTexts {
    std::string title, detail;
    std::string referrer;  ///< as in Finding
    FixTexts fix;
};
constexpr size_t language_count = 2;  ///< of Language

struct FindingSummary {
    FindingKind kind = FindingKind::steady;
    Severity severity = Severity::pattern;
    int64_t bytes = 0;
    std::optional<int64_t> per_iteration;
    std::string line;
    bool is_gpu_leak = false, is_slow = false;
    std::array<FindingTexts, language_count> texts;  ///< by Language
};

/// A part of what nvidia-smi shows for the device.
struct ComponentMemory {
    ComponentKind kind = ComponentKind::unknown;
    std::string name;
    int64_t bytes = 0;
};

/// An out-of-memory error that ended the work.
struct OomSummary {
    int64_t time = 0, requested = 0, free = 0;
};

/// The process's memory on one device.
struct DeviceSummary {
    static constexpr int columns = 512;

    int device = 0;
    std::string name, uuid;
    int64_t total_bytes = 0;  ///< of the device; 0: unknown
    int64_t events = 0;
    int64_t peak_allocated = 0, peak_reserved = 0, peak_time = 0;
    std::string peak_phase;  ///< "forward", "backward", "optimizer", ...; empty: unknown
    int64_t end_time = 0;    ///< of the explained state, to which all values `at_end` belong
    int64_t allocated_at_end = 0, reserved_at_end = 0;
    int64_t parameters = 0;  ///< at the end; 0: none, or no categories were recorded
    /// A hash of their names in any order: equal where ranks have the same model. Of this build of Tidemark only.
    int64_t parameter_names = 0;
    std::optional<int64_t> device_used;       ///< at the end, as nvidia-smi shows it
    std::vector<ComponentMemory> components;  ///< at the end; the sum is device_used, if there is one
    std::vector<SiteMemory> sites;            ///< those with most bytes at the peak or at the end
    std::vector<FindingSummary> findings;     ///< as in Explanation
    std::optional<OomSummary> oom;
    /// The highest value within each of `columns` equal parts of the trace's duration; `used`: of the device, -1
    /// where unknown.
    std::vector<int64_t> allocated, reserved, used;

    /// Returns the process's own memory at the end: all components that are not other processes' or unknown.
    int64_t own_at_end() const;
    /// Returns the bytes that leaks of GPU memory add in each iteration.
    int64_t growth() const;
};

struct StepEnd {
    int64_t number = 0, time = 0;
};

/// The end of a call that waited for all ranks.
struct Meeting {
    std::string name;  ///< "barrier 12": the same in all ranks
    int64_t time = 0;
};

struct ProcessSummary {
    int64_t file_bytes = 0, modified_ns = 0;  ///< of the trace, to notice that it changed
    JobPlace place;
    int64_t pid = 0;
    int64_t start_utc_ns = 0, duration = 0;
    bool is_being_written = false, has_clean_end = true;
    Fact<ProcessEnd> how_ended;
    std::optional<int64_t> end, exit_status;  ///< of the process, as in Process
    int64_t last_event = 0;                   ///< time of the last event of any device
    int64_t steps = 0;
    std::vector<StepEnd> step_ends;      ///< at most a few hundred of them, evenly
    std::vector<Meeting> meetings;       ///< at most a few hundred, the first ones
    std::vector<DeviceSummary> devices;  ///< the main device first; may be empty

    const DeviceSummary* main_device() const { return devices.empty() ? nullptr : &devices.front(); }
};

}  // namespace tidemark
