// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The pictures of the window as readings. In builds without the window there are none.
#pragma once

#include "tests/hostile/reading.h"

namespace tidemark::hostile {

/// Creates the application, which draws offscreen. Call before the first fork.
void prepare_views(int& argc, char** argv);

/// Returns one reading per view.
std::vector<Reading> view_readings();

}  // namespace tidemark::hostile
