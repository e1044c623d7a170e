// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The picture of one histogram: bars that the pointer and the keys brush.
#pragma once

#include <QPointer>
#include <QWidget>
#include <optional>

#include "gui/histograms/shown_histograms.h"
#include "gui/widgets/hover_tip.h"

namespace tidemark::gui {

enum class HistogramMeasure : uint8_t { allocations, bytes };

/// Thread: GUI. Knows the allocations by their bins only; the pane selects them.
class HistogramView : public QWidget {
    Q_OBJECT
public:
    /// `is_of_size`: otherwise of lifetimes, in time or in iterations.
    explicit HistogramView(bool is_of_size, QWidget* parent = nullptr);

    /// Shows other numbers, or nothing (null). `brush`: the range of its bins that is brushed; `part`: that of the
    /// other histogram, which this one shows darker.
    void show(std::shared_ptr<const ShownHistograms> shown, const std::optional<BinRange>& brush,
              const std::optional<BinRange>& part);
    void set_measure(HistogramMeasure measure);
    const std::optional<BinRange>& brush() const { return brush_; }
    HistogramOf kind() const;
    /// Returns the place of a bin's bar and the room above it.
    QRectF bin_rect(size_t bin) const;
    /// Returns the place of a bin's bar for an amount.
    QRectF bar_rect(size_t bin, const HistogramAmount& amount) const;
    /// Returns the place of the value of the highest bar, which has the same meaning as a mark of an axis.
    QRectF place_of_highest(const QString& text) const;
    /// Returns what a brush selects, as words: "1 MiB to 2 MiB".
    QString range_text(const BinRange& range) const;

    QSize sizeHint() const override { return {360, 200}; }
    QSize minimumSizeHint() const override { return {220, 110}; }

signals:
    /// `is_final` is false while the pointer drags.
    void brushed(const std::optional<BinRange>& range, bool is_final);

protected:
    bool event(QEvent* event) override;
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void focusInEvent(QFocusEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;

private:
    const std::vector<HistogramBin>& bins() const { return shown_->bins(kind()); }
    size_t bin_count() const { return shown_ ? bins().size() : 0; }
    bool has_never_freed() const { return bin_count() > 0 && bins().back().never_freed; }
    int64_t measured(const HistogramAmount& amount) const;
    HistogramAmount amount_in(const BinRange& range) const;
    QRectF plot_rect() const;
    std::optional<size_t> bin_under(QPointF point) const;
    size_t nearest_bin(double x) const;
    void drag_to(double x);
    void brush_to(size_t bin, bool extends);
    void describe();
    void paint_scale(QPainter& painter) const;
    void paint_bars(QPainter& painter) const;
    void paint_highest(QPainter& painter) const;
    void paint_labels(QPainter& painter) const;
    std::vector<size_t> labeled_bins() const;
    QString title() const;

    const bool is_of_size_;
    std::shared_ptr<const ShownHistograms> shown_;
    HistogramMeasure measure_ = HistogramMeasure::allocations;
    std::vector<HistogramAmount> whole_, part_;  ///< part_: those within the other histogram's brush; empty: no brush
    int64_t highest_ = 0;
    std::optional<BinRange> brush_;
    std::optional<size_t> pressed_;  ///< bin where a drag began
    bool was_alone_ = false;         ///< it was the only brushed bin before
    size_t anchor_ = 0, head_ = 0;   ///< of the brush that keys extend
    QPointer<HoverTip> tip_;
};

}  // namespace tidemark::gui
