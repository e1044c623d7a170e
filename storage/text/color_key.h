// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The color key: one color means one category, component or node state, in the window and in reports.
//
// Each color differs from the backgrounds of its theme by a contrast of at least 3:1, and from all others also with
// protanopia and deuteranopia: categories and components stand side by side. Tests measure both.
#pragma once

#include "storage/breakdown/breakdown.h"
#include "storage/graph/graph_index.h"

namespace tidemark {

struct KeyColor {
    uint32_t light = 0, dark = 0;  ///< 0xRRGGBB, on a light and on a dark background
};

KeyColor category_key(Category category);
/// Several libraries, or processes, are shades of one color.
KeyColor component_key(ComponentKind kind);

/// Returns the color of a value from 0 to 1 in the heat map of a job: little memory is close to the background, much
/// stands out.
KeyColor heat_key(double value);

}  // namespace tidemark
