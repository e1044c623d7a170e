// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Formats the results of `tidemark check`.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "recorder/cli/check/verifier.h"

namespace tidemark::cli {

/// The results of all limits on one device.
struct Checked {
    std::string process;  ///< of a job: "rank 3"; else empty
    int device = 0;
    std::vector<Verified> limits;
};

bool all_hold(const std::vector<Checked>& devices);

std::string check_text(const std::vector<Checked>& devices, const Words& words);
nlohmann::ordered_json check_json(const std::vector<Checked>& devices);
/// Returns a table and the reasons, for a comment on a pull request.
std::string check_markdown(const std::vector<Checked>& devices, const Words& words);

}  // namespace tidemark::cli
