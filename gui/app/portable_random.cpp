// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// Part of portable programs only. libstdc++ of Debian 12 wants arc4random() of C libraries since 2.36, for
// std::random_device. Qt's libraries mention that class, so the linker keeps it, though nothing uses it.
#include <cstdint>

#include "storage/base/random_number.h"

extern "C" uint32_t arc4random();
extern "C" uint32_t arc4random() { return static_cast<uint32_t>(tidemark::random_number()); }
