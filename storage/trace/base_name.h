// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The name of a file of the recorded program, which may have run on another system.
#pragma once

#include <string_view>

namespace tidemark {

/// Returns "train.py" for "/home/anna/train.py" and for "C:\train.py".
inline std::string_view base_name(std::string_view path) {
    const size_t slash = path.find_last_of("/\\");
    return slash == path.npos ? path : path.substr(slash + 1);
}

}  // namespace tidemark
