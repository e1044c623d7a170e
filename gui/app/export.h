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

/// PNG or SVG by the file's ending. `ratio` device pixels per pixel (PNG only).
Status save_picture(const QString& path, QSize size, double ratio, const QString& title, const PaintOn& paint);
/// Replaces the file only when all of it is written.
Status save_text(const QString& path, const std::string& text);
/// As Markdown if the file's name ends so, else as a web page.
std::string explanation_document(const QString& path, const Explained& explained);
/// The same picture in memory.
QImage picture_of(QSize size, double ratio, const PaintOn& paint);

}  // namespace tidemark::gui
