// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/timeline/plot_key.h"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <utility>

#include "gui/model/component_text.h"
#include "gui/model/palette.h"
#include "gui/model/text.h"

namespace tidemark::gui {

namespace {

constexpr int line_length = 15, box_side = 10, after_sample = 5, entry_gap = 14, from_edge = 8;  // pixels

/// Returns a short name: that a library's memory is outside the allocator shows in the plot.
QString band_name(const ComponentKey& key) {
    return key.kind == ComponentKind::library && !key.name.empty()
               ? to_qstring(key.name)
               : component_name({key.kind, key.name, 0, 0, key.pid});
}

KeyEntry entry_of(const ProcessBands& bands, const ComponentKey& key) {
    return {band_name(key), bands.color({key.kind, key.name, 0, 0, key.pid}),
            key.kind == ComponentKind::unknown ? KeySample::unknown : KeySample::band};
}

/// `left`: the middle of the left end.
void paint_sample(QCPPainter& painter, QPoint left, const KeyEntry& entry, const Theme& theme) {
    const QRect box(left.x() + line_length - box_side, left.y() - box_side / 2, box_side, box_side);
    const QPointF middle = left + QPointF(line_length / 2.0, 0);
    switch (entry.sample) {
        case KeySample::line:
            painter.setPen(QPen(entry.color, entry.line_width));
            painter.drawLine(left, left + QPoint(line_length, 0));
            return;
        case KeySample::above:
            painter.setPen(Qt::NoPen);
            painter.setBrush(entry.color);
            painter.drawPolygon(QPolygonF({middle + QPointF(0, -5), middle + QPointF(6, 5), middle + QPointF(-6, 5)}));
            painter.setBrush(Qt::NoBrush);
            return;
        case KeySample::unknown:
            painter.fillRect(box, mixed(entry.color, theme.plot_background, light_of_unknown));
            painter.fillRect(box, QBrush(entry.color, Qt::BDiagPattern));
            return;
        case KeySample::band: painter.fillRect(box, entry.color); return;
    }
}

}  // namespace

std::vector<KeyEntry> key_of_bands(const ProcessBands& bands, double least, const QFontMetrics& metrics, int room) {
    std::vector<size_t> by_size(bands.components.size());
    std::iota(by_size.begin(), by_size.end(), size_t{0});
    std::stable_sort(by_size.begin(), by_size.end(),
                     [&bands](size_t a, size_t b) { return bands.most[a] > bands.most[b]; });
    std::map<size_t, KeyEntry, std::greater<>> shown;  // by place
    for (const size_t i : by_size) {
        KeyEntry entry = entry_of(bands, bands.components[i]);
        room -= key_width({entry}, metrics);
        if (room < 0 || static_cast<double>(bands.most[i]) < least) {
            break;
        }
        shown.emplace(i, std::move(entry));
    }
    std::vector<KeyEntry> entries;
    for (auto& [place, entry] : shown) {
        entries.push_back(std::move(entry));
    }
    return entries;
}

int key_row_height(const QFontMetrics& metrics) { return metrics.height() + 5; }

int key_width(const std::vector<KeyEntry>& entries, const QFontMetrics& metrics) {
    return std::accumulate(entries.begin(), entries.end(), 0, [&](int width, const KeyEntry& entry) {
        return width + metrics.horizontalAdvance(entry.name) + line_length + after_sample + entry_gap;
    });
}

QRect key_place(const std::vector<KeyEntry>& entries, const QFontMetrics& metrics, QRect area) {
    const int width = key_width(entries, metrics) + after_sample + 1;
    return {area.right() - from_edge - width + after_sample + 1, area.top() + 1, width, metrics.height() + 2};
}

void paint_key(QCPPainter& painter, const std::vector<KeyEntry>& entries, QRect area, const Theme& theme) {
    const QFontMetrics metrics(painter.font());
    const QRect box = key_place(entries, metrics, area);
    QColor back = theme.plot_background;
    back.setAlpha(215);
    painter.fillRect(box, back);
    int left = box.left() + entry_gap;
    for (const KeyEntry& entry : entries) {
        paint_sample(painter, QPoint(left, box.center().y()), entry, theme);
        left += line_length + after_sample;
        const int advance = metrics.horizontalAdvance(entry.name);
        painter.setPen(theme.text);
        painter.drawText(QRect(left, box.top(), advance, box.height()), Qt::AlignCenter | Qt::TextDontClip, entry.name);
        left += advance + entry_gap;
    }
}

}  // namespace tidemark::gui
