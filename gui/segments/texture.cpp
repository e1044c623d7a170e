// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/segments/texture.h"

#include <QImage>

namespace tidemark::gui {

namespace {
constexpr int texture_period = 8;  // pixels
}  // namespace

bool has_line_at(Texture texture, int x, int y) {
    if (texture == Texture::striped) {
        return ((x + y) & (texture_period - 1)) < texture_period / 2;
    }
    return texture == Texture::hatched &&
           (((x + y) & (texture_period - 1)) == 0 || ((x - y) & (texture_period - 1)) == 0);
}

namespace {

QBrush brush_of(Texture texture, QRgb fill, QRgb stripe) {
    QImage tile(texture_period, texture_period, QImage::Format_RGB32);
    for (int y = 0; y < texture_period; ++y) {
        for (int x = 0; x < texture_period; ++x) {
            tile.setPixel(x, y, has_line_at(texture, x, y) ? stripe : fill);
        }
    }
    return QBrush(tile);
}

}  // namespace

QBrush striped_brush(const QColor& base, const QColor& stripe) {
    return brush_of(Texture::striped, base.rgb(), stripe.rgb());
}
QBrush hatched_brush(const QColor& base, const QColor& line) {
    return brush_of(Texture::hatched, base.rgb(), line.rgb());
}

}  // namespace tidemark::gui
