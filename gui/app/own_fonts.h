// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// Text on systems without fonts.
#pragma once

namespace tidemark::gui {

/// Selects the fonts that came with the program on a system that has no configuration of fonts, such as a minimal
/// container. Called before Qt starts.
void use_own_fonts_if_needed();

}  // namespace tidemark::gui
