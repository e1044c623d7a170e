// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// Pictures of plots as files and on the clipboard.
#pragma once

#include <QPaintDevice>
#include <QSize>
#include <QString>
#include <functional>

#include "storage/base/result.h"

namespace tidemark::gui {

struct Explained;

using PaintOn = std::function<void(QPaintDevice& device, QSize size)>;

/// Writes PNG or SVG by the file's ending. `ratio`: device pixels per pixel (PNG only).
Status save_picture(const QString& path, QSize size, double ratio, const QString& title, const PaintOn& paint);
/// Writes the whole file or leaves the old one.
Status save_text(const QString& path, const std::string& text);
/// Returns Markdown if the file's name ends in .md, else a web page.
std::string explanation_document(const QString& path, const Explained& explained);
/// Returns the picture as an image.
QImage picture_of(QSize size, double ratio, const PaintOn& paint);

}  // namespace tidemark::gui
