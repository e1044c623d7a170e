// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The canvas of pictures that are painted by columns.
#pragma once

#include <QImage>
#include <QSize>
#include <algorithm>
#include <cmath>
#include <vector>

#include "gui/widgets/coordinates.h"
#include "gui/widgets/picture.h"

namespace tidemark::gui {

inline QRgb mixed(QRgb a, QRgb b, double part) {
    const auto channel = [part](int x, int y) { return static_cast<int>(x + (y - x) * part + 0.5); };
    return qRgb(channel(qRed(a), qRed(b)), channel(qGreen(a), qGreen(b)), channel(qBlue(a), qBlue(b)));
}

/// Pixels stored column after column, bottom row first: a column's runs are contiguous while painting.
class ColumnCanvas {
public:
    ColumnCanvas(QSize size, QRgb background)
        : width_(size.width()),
          height_(size.height()),
          pixels_(static_cast<size_t>(width_) * static_cast<size_t>(height_), background) {}

    QRgb* column(int x) { return pixels_.data() + static_cast<size_t>(x) * static_cast<size_t>(height_); }
    int rows() const { return height_; }
    void fill(int x, RowRun run, QRgb color) {
        std::fill(column(x) + run.begin, column(x) + std::max(run.begin, run.end), color);
    }

    /// Fills a band of a stack. A line below it in the color of the background separates it from the band there, which
    /// may have nearly the same lightness, unless the band is thin.
    void fill_band(int x, RowRun run, QRgb color, const PictureRequest& r) {
        fill(x, run, color);
        separate(x, run, r);
    }
    void separate(int x, RowRun run, const PictureRequest& r) {
        if (run.begin > 0 && run.end - run.begin >= thinnest_separated * r.line_width) {
            fill(x, {run.begin, run.begin + r.line_width}, r.theme.plot_background.rgb());
        }
    }

    void clear_from(int x, QRgb background) {
        std::fill(pixels_.begin() + static_cast<ptrdiff_t>(std::clamp(x, 0, width_)) * height_, pixels_.end(),
                  background);
    }

    /// Works by tiles, so that both sides of the transposition stay in the cache.
    QImage to_image() const {
        QImage image(width_, height_, QImage::Format_RGB32);
        constexpr int tile = 16;
        uchar* bits = image.bits();
        const auto stride = image.bytesPerLine();
        for (int x0 = 0; x0 < width_; x0 += tile) {
            for (int y0 = 0; y0 < height_; y0 += tile) {
                copy_tile(bits, stride, x0, std::min(x0 + tile, width_), y0, std::min(y0 + tile, height_));
            }
        }
        return image;
    }

private:
    static constexpr int thinnest_separated = 5;

    void copy_tile(uchar* bits, qsizetype stride, int x0, int x1, int y0, int y1) const {
        for (int y = y0; y < y1; ++y) {
            auto* line = reinterpret_cast<QRgb*>(bits + stride * y);
            const QRgb* source = pixels_.data() + (height_ - 1 - y);
            for (int x = x0; x < x1; ++x) {
                line[x] = source[static_cast<ptrdiff_t>(x) * height_];
            }
        }
    }

    int width_, height_;
    std::vector<QRgb> pixels_;
};

inline double bytes_per_row(const PictureRequest& r) { return (r.high - r.low) / r.pixels.height(); }

/// Maps bytes to rows, counted from the bottom.
inline AxisMap row_map(const PictureRequest& r) { return {r.low, r.high, 0, static_cast<double>(r.pixels.height())}; }

inline Columns columns_of(const PictureRequest& r) {
    ColumnCache uncached;
    ColumnCache& cache = r.column_cache ? *r.column_cache : uncached;
    return cache.get(*r.analysis, r.axis, r.from, r.to, r.pixels.width());
}

/// Leaves the part beyond the end of a growing run empty.
inline void clear_future(ColumnCanvas& canvas, const PictureRequest& r) {
    if (r.known_to < r.to) {
        const AxisMap columns{r.from, r.to, 0, static_cast<double>(r.pixels.width())};
        canvas.clear_from(static_cast<int>(std::ceil(columns.pixel(r.known_to))), r.theme.plot_background.rgb());
    }
}

}  // namespace tidemark::gui
