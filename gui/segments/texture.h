// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The textures of the segment map: pending free memory is striped, unknown memory hatched.
#pragma once

#include <QBrush>

namespace tidemark::gui {

enum class Texture : uint8_t { plain, striped, hatched };

/// Returns whether a pixel belongs to a stripe or line of the texture.
bool has_line_at(Texture texture, int x, int y);

/// Returns the texture as a brush over `base`.
QBrush striped_brush(const QColor& base, const QColor& stripe);
QBrush hatched_brush(const QColor& base, const QColor& line);

}  // namespace tidemark::gui
