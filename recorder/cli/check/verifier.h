// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Measures what memory limits are about, and verifies one limit on one device.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "recorder/cli/explained.h"

namespace tidemark::cli {

enum class Quantity : uint8_t { allocated_peak, reserved_peak, growth_per_step };

/// A value of a run.
struct Measured {
    std::optional<int64_t> bytes;  ///< nothing: unknown
    std::string doubt;             ///< why the value is unknown or may be higher; empty: it is certain
    EventNumber event = 0;         ///< where a peak is reached
};
Measured measure(const AnalysisContext& context, Quantity quantity, const Words& words);

/// A limit in bytes.
struct SizeLimit {
    const char* name;  ///< in JSON: "max-peak"
    Quantity quantity;
    int64_t allowed = 0;
    std::string text;                 ///< in sentences: "--max-peak 10GiB"
    std::optional<int64_t> baseline;  ///< the value of the run from which the limit comes
    std::string doubt;                ///< why the limit may be too low; empty: it is certain
};

enum class Outcome : uint8_t { holds, broken, unknown };

/// The result of one limit on one device.
struct Verified {
    std::string name;
    Outcome outcome = Outcome::holds;
    std::optional<int64_t> allowed, value, baseline;  ///< bytes
    std::string reason;                               ///< one sentence
    std::vector<std::string> details;                 ///< one cause per line
    std::string line, referrer;                       ///< of the largest cause; empty if unknown
    std::vector<std::string> path;                    ///< its retention path, a step each; empty if unknown
    std::vector<std::string> findings;                ///< kinds that were found
};

/// Verifies a limit in bytes. Explains a growth that is too large by its leak; `explain_peak` explains a peak.
using ExplainPeak = std::function<void(Verified& verified, EventNumber event)>;
Verified verify_size(const Explained& device, const SizeLimit& limit, const ExplainPeak& explain_peak,
                     const Words& words);

/// Lists the findings that must not occur. The caller sets outcome and reason.
Verified list_findings(const Explained& device, const char* name, const std::function<bool(const Finding&)>& is_listed,
                       const Words& words);

/// Adds the referrer and the retention path of the memory of `verified.line`, if a finding knows it.
void add_referrer(Verified& verified, const Explanation& explanation, const Words& words);

}  // namespace tidemark::cli
