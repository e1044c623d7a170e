// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Calls of torch.distributed that wait for all ranks of a job, so that all return at the same moment: annotations of
// the kind collective, whose names are the function and the number of its call, "barrier 12".
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace tidemark {

inline bool is_meeting_name(std::string_view name) {
    constexpr std::array<std::string_view, 4> functions{"init_process_group", "barrier", "monitored_barrier",
                                                        "all_gather_object"};
    const size_t space = std::min(name.find(' '), name.size());
    const std::string_view number = name.substr(std::min(space + 1, name.size()));
    constexpr std::string_view digits = "0123456789";
    return std::find(functions.begin(), functions.end(), name.substr(0, space)) != functions.end() && !number.empty() &&
           number.find_first_not_of(digits) == std::string_view::npos;
}

}  // namespace tidemark
