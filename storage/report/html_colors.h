// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The color key in HTML: a CSS class for each category, component and severity, and for steps of the heat map.
#pragma once

#include <string>

#include "storage/explain/finding.h"
#include "storage/text/color_key.h"
#include "storage/timeline/curves.h"

namespace tidemark {

/// Returns the color of a severity, for shapes and for text.
KeyColor severity_key(Severity severity);

/// Returns the color of a line over time.
KeyColor series_key(Series series);

/// Return the classes that fill a shape, or the background of an element, with the color.
std::string key_class(Category category);
std::string key_class(ComponentKind kind);
/// Returns the class that draws a path, or the upper border of an element, with the color.
std::string key_class(Series series);

/// Returns the class that fills a rectangle of a heat map with the color of a value from 0 to 1.
std::string heat_class(double value);

/// Returns the rules of the classes, light and dark.
std::string html_colors();

}  // namespace tidemark
