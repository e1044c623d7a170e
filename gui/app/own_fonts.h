// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// Text on systems without fonts.
#pragma once

namespace tidemark::gui {

/// Loads the fonts that came with the program if the system has none, as in a minimal container.
void load_own_fonts_if_needed();

}  // namespace tidemark::gui
