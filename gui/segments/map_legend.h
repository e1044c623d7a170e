// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The line under the segment map that explains its colors, textures and scale.
#pragma once

#include <QPointer>
#include <QWidget>

#include "gui/segments/block_colors.h"

namespace tidemark::gui {

class MapLegend : public QWidget {
    Q_OBJECT
public:
    explicit MapLegend(QWidget* parent = nullptr);

    void set_session(Session* session);
    void set_colors(MapColors by);
    /// 0 if the bars have no common scale.
    void set_scale(double bytes_per_pixel);

    void paint_into(QPainter& painter, const QRect& area, double bytes_per_pixel) const;
    QSize sizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    struct Entry {
        QBrush brush;
        QString name;
    };
    std::vector<Entry> entries(const Theme& theme) const;
    int paint_scale(QPainter& painter, const QRect& area, const Theme& theme, double bytes_per_pixel) const;
    int paint_ramp(QPainter& painter, QRect area, const Theme& theme) const;

    QPointer<Session> session_;
    MapColors by_ = MapColors::group;
    double bytes_per_pixel_ = 0;
};

}  // namespace tidemark::gui
