// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Paths of CUPTI libraries for a process that has not loaded one.
#pragma once

#include <array>
#include <string>
#include <vector>

namespace tidemark::recorder {

constexpr std::array<const char*, 2> cupti_names{"libcupti.so.13", "libcupti.so.12"};

/// Returns the paths in the order in which they are tried: TIDEMARK_CUPTI, torch's wheels (`torch_lib`: the folder of
/// torch's libraries, or empty), the CUDA Toolkit, then plain names for the loader's own search.
std::vector<std::string> cupti_places(const std::string& torch_lib);

}  // namespace tidemark::recorder
