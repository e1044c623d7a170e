// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The key in the upper right corner of a plot: names of its lines, and of the bands of the process.
#pragma once

#include <QColor>
#include <QFontMetrics>
#include <QRect>
#include <QString>
#include <vector>

#include "gui/timeline/process_bands.h"

namespace tidemark::gui {

/// What has the color of a name; `above`: a line above all that the plot shows.
enum class KeySample : uint8_t { line, above, band, unknown };

struct KeyEntry {
    QString name;
    QColor color;
    KeySample sample = KeySample::line;
    int line_width = 1;  ///< pixels
};

/// Returns the bands from the outside in, as they lie. Omits those that never have `least` bytes, and the smallest ones
/// if there is no room for all.
std::vector<KeyEntry> key_of_bands(const ProcessBands& bands, double least, const QFontMetrics& metrics, int room);

/// Returns the height of the key with the room around it, where nothing else is.
int key_row_height(const QFontMetrics& metrics);
int key_width(const std::vector<KeyEntry>& entries, const QFontMetrics& metrics);
/// Returns the place of a key in a plot's area.
QRect key_place(const std::vector<KeyEntry>& entries, const QFontMetrics& metrics, QRect area);
void paint_key(QCPPainter& painter, const std::vector<KeyEntry>& entries, QRect area, const Theme& theme);

}  // namespace tidemark::gui
