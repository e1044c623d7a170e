// Where CUPTI may be when a process has not loaded it yet.
#pragma once

#include <array>
#include <string>
#include <vector>

namespace tidemark::recorder {

constexpr std::array<const char*, 2> cupti_names{"libcupti.so.13", "libcupti.so.12"};

/// In the order in which they are tried: TIDEMARK_CUPTI, what came with torch (`torch_lib`: the folder of its
/// libraries, or empty), the CUDA Toolkit, then plain names for the loader's own search.
std::vector<std::string> cupti_places(const std::string& torch_lib);

}  // namespace tidemark::recorder
