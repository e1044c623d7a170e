// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Verifies memory limits of a run.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "recorder/cli/explained.h"

namespace tidemark::cli {

/// The options of the command line. Sizes are in the format of parse_bytes(); empty: not given.
struct Limits {
    std::string peak, reserved, growth;
    std::vector<std::string> findings;  ///< severities and kinds
};

/// Returns an error (usage) if there is no limit, a limit is not a size, or a name is not a finding.
Status check_limits(const Limits& limits);

enum class Outcome : uint8_t { holds, broken, unknown };

/// The result of one limit on one device.
struct Verified {
    std::string name;  ///< of the option: "max-peak"
    Outcome outcome = Outcome::holds;
    std::optional<int64_t> allowed, value;  ///< bytes
    std::string reason;                     ///< one sentence
    std::vector<std::string> details;       ///< one cause per line
    std::string line, referrer;             ///< of the largest cause; empty if unknown
    std::vector<std::string> findings;      ///< kinds that were found
};

/// Verifies the given limits in the order of their options. Requires that check_limits() succeeded.
std::vector<Verified> verify(const Explained& device, const Limits& limits, const Words& words);

}  // namespace tidemark::cli
