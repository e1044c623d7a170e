// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The memory limits that the options of `tidemark check` state.
#pragma once

#include <string>
#include <vector>

#include "recorder/cli/check/verifier.h"

namespace tidemark::cli {

/// The options of the command line. Sizes are in the format of parse_bytes(); empty: not given.
struct Limits {
    std::string peak, reserved, growth;
    std::vector<std::string> findings;  ///< severities and kinds

    bool empty() const { return peak.empty() && reserved.empty() && growth.empty() && findings.empty(); }
};

/// Returns an error (usage) if a limit is not a size, or a name is not a finding.
Status check_limits(const Limits& limits);

/// Verifies the given limits in the order of their options. Requires that check_limits() succeeded.
std::vector<Verified> verify(const Explained& device, const Limits& limits, const Words& words);

}  // namespace tidemark::cli
