// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The lines under the segment map that explain its colors, textures and scale.
#pragma once

#include <QPointer>
#include <QWidget>
#include <map>

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
    /// Entries without room go to the next line.
    int heightForWidth(int width) const override;
    QSize sizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    struct Entry {
        QBrush brush;
        QString name;
    };
    void entries_changed();
    std::vector<Entry> entries(const Theme& theme) const;
    int line_height() const { return fontMetrics().height() + 8; }
    QString shown_name(const Entry& entry, int room) const;
    int width_of(const Entry& entry, int room) const;
    /// Returns the room for a name with which the entries need few lines.
    int name_room(const std::vector<Entry>& all, int width) const;
    int ramp_width() const;
    QString ramp_end(bool high) const;
    /// Returns the top left corners of the entries' lines.
    std::vector<QPoint> places(const std::vector<Entry>& all, int width, int room) const;
    static void paint_scale(QPainter& painter, const QRect& line, const Theme& theme, double bytes_per_pixel);
    void paint_ramp(QPainter& painter, QRect line, const Theme& theme) const;

    QPointer<Session> session_;
    MapColors by_ = MapColors::group;
    double bytes_per_pixel_ = 0;
    /// Every layout of the window asks for heights, also while the cursor moves, and measuring all names is slow.
    mutable std::map<int, int> height_of_width_;
};

}  // namespace tidemark::gui
