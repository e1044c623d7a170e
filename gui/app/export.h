// Pictures of plots as files and on the clipboard.
#pragma once

#include <QPaintDevice>
#include <QSize>
#include <QString>
#include <functional>

#include "storage/base/result.h"

namespace tidemark::gui {

using PaintOn = std::function<void(QPaintDevice& device, QSize size)>;

/// PNG or SVG by the file's ending. `ratio` device pixels per pixel (PNG only).
Status save_picture(const QString& path, QSize size, double ratio, const QString& title, const PaintOn& paint);
/// The same picture in memory.
QImage picture_of(QSize size, double ratio, const PaintOn& paint);

}  // namespace tidemark::gui
