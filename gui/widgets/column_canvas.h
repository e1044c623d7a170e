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
#include "storage/base/in_halves.h"

namespace tidemark::gui {

inline QRgb mixed(QRgb a, QRgb b, double part) {
    const auto channel = [part](int x, int y) { return static_cast<int>(std::lround(x + (y - x) * part)); };
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
    /// Fills a band of a stack with diagonal lines, see hatch().
    void fill_hatched(int x, RowRun run, QRgb color, double part, const PictureRequest& r) {
        hatch(x, run, color, part, r);
        separate(x, run, r);
    }
    /// Fills rows with diagonal lines of a color, on the same color mixed with so large a `part` of the background.
    void hatch(int x, RowRun run, QRgb color, double part, const PictureRequest& r) {
        const int period = 6 * r.line_width, line = 2 * r.line_width;
        const QRgb light = mixed(color, r.theme.plot_background.rgb(), part);
        for (int y = std::max(run.begin, 0); y < std::min(run.end, rows()); ++y) {
            column(x)[y] = (x + y) % period < line ? color : light;
        }
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

    QImage to_image() const {
        QImage image(width_, height_, QImage::Format_RGB32);
        uchar* bits = image.bits();
        const auto stride = image.bytesPerLine();
        in_halves(width_, [&](int first, int last) { copy_columns(bits, stride, first, last); });
        return image;
    }

private:
    static constexpr int thinnest_separated = 5;

    /// Pixels along an edge of a block that is transposed in registers: compilers copy its rows as one vector each.
    static constexpr int edge = 4;

    /// Works by tiles, so that both sides of the transposition stay in the cache.
    void copy_columns(uchar* bits, qsizetype stride, int first, int last) const {
        constexpr int across = 16 * edge;
        for (int x0 = first; x0 < last; x0 += across) {
            const int x1 = std::min(x0 + across, last);
            int y = 0;
            for (; y + edge <= height_; y += edge) {
                copy_lines<edge>(bits, stride, x0, x1, y);
            }
            for (; y < height_; ++y) {
                copy_lines<1>(bits, stride, x0, x1, y);
            }
        }
    }

    template <int lines>
    void copy_lines(uchar* bits, qsizetype stride, int x0, int x1, int y) const {
        int x = x0;
        for (; x + edge <= x1; x += edge) {
            copy_block<edge, lines>(bits, stride, x, y);
        }
        for (; x < x1; ++x) {
            copy_block<1, lines>(bits, stride, x, y);
        }
    }

    template <int columns, int lines>
    void copy_block(uchar* bits, qsizetype stride, int x, int y) const {
        const QRgb* source = pixels_.data() + static_cast<ptrdiff_t>(x) * height_ + (height_ - lines - y);
        QRgb block[lines][columns];
        for (int column = 0; column < columns; ++column) {
            for (int line = 0; line < lines; ++line) {
                block[lines - 1 - line][column] = source[static_cast<ptrdiff_t>(column) * height_ + line];
            }
        }
        for (int line = 0; line < lines; ++line) {
            std::copy_n(block[line], columns, reinterpret_cast<QRgb*>(bits + stride * (y + line)) + x);
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
