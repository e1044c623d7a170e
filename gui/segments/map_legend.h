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
    /// Leaves out the groups, which the key above the plots has, too.
    void set_short(bool is_short);
    /// 0 if the bars have no common scale.
    void set_scale(double bytes_per_pixel);

    void paint_into(QPainter& painter, const QRect& area, double bytes_per_pixel) const;
    /// Entries without room go to the next line.
    int heightForWidth(int width) const override;
    QSize sizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;
    void changeEvent(QEvent* event) override;
    bool event(QEvent* event) override;

private:
    struct Entry {
        QBrush brush;
        QString name;
    };
    struct Placed {
        Entry entry;  ///< its name is elided
        QRect line;
        QString name;  ///< in full
    };
    void entries_changed();
    std::vector<Entry> entries() const;
    int line_height() const { return fontMetrics().height() + 8; }
    int ramp_width() const;
    QString ramp_end(bool high) const;
    /// Returns the places of the entries in a width, with names so long that the entries need few lines.
    const std::vector<Placed>& places(int width) const;
    std::vector<Placed> place(const std::vector<Entry>& all, int width, int room) const;
    static void paint_scale(QPainter& painter, const QRect& line, const Theme& theme, double bytes_per_pixel);
    void paint_ramp(QPainter& painter, QRect line, const Theme& theme) const;

    QPointer<Session> session_;
    MapColors by_ = MapColors::group;
    bool is_short_ = false;
    double bytes_per_pixel_ = 0;
    /// Every layout of the window asks for heights, and every state paints; measuring all names is slow.
    mutable std::map<int, std::vector<Placed>> places_of_width_;
};

}  // namespace tidemark::gui
