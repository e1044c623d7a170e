// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

namespace tidemark {

/// Returns a number that other programs cannot guess; in the first moments after a boot, one that only differs between
/// processes. Any thread may call it.
uint64_t random_number();

}  // namespace tidemark
