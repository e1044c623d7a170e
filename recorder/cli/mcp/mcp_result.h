// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// What an agent gets of a command's JSON: the part that it asked for, no longer than a limit.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

namespace tidemark::cli {

/// Returns the JSON of `explain` with an id for each finding, and without stacks, paths and diffs.
nlohmann::ordered_json findings_of(const nlohmann::ordered_json& explained);

/// Returns the finding with an id ("0:2": device 0, position 2), with its device and time point; nothing if there is
/// none.
std::optional<nlohmann::ordered_json> finding_of(const nlohmann::ordered_json& explained, const std::string& id);

/// Returns the JSON as text of at most `most` bytes. Lists are cut at their ends and texts after their begins, the
/// longest first; the text then has the key "left_out", a list of sentences. Requires at least 1000 bytes.
std::string text_within(nlohmann::ordered_json json, size_t most);

}  // namespace tidemark::cli
