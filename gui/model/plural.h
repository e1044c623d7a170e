// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The number by which a translation selects its plural form.
#pragma once

#include <algorithm>
#include <climits>
#include <cstdint>

namespace tidemark::gui {

/// Returns `count` for the last argument of tr(), which takes an int.
inline int plural(int64_t count) { return static_cast<int>(std::clamp<int64_t>(count, 0, INT_MAX)); }
inline int plural(uint64_t count) { return plural(static_cast<int64_t>(std::min<uint64_t>(count, INT_MAX))); }
inline int plural(int count) { return plural(static_cast<int64_t>(count)); }
inline int plural(uint32_t count) { return plural(static_cast<int64_t>(count)); }

}  // namespace tidemark::gui
