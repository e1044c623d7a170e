// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "tests/hostile/views.h"

namespace tidemark::hostile {

void prepare_views(int&, char**) {}

std::vector<Reading> view_readings() { return {}; }

}  // namespace tidemark::hostile
