// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The pane with the histograms of sizes and lifetimes; brushing one selects its allocations in every pane.
#pragma once

#include <QPointer>
#include <QTimer>
#include <QWidget>

#include "gui/histograms/histogram_view.h"
#include "gui/model/latest_only.h"
#include "gui/model/session.h"

class QComboBox;
class QLabel;
class QToolButton;

namespace tidemark::gui {

/// Thread: GUI. A worker counts. While the pane is hidden nothing is computed.
class HistogramsPane : public QWidget {
    Q_OBJECT
public:
    explicit HistogramsPane(QWidget* parent = nullptr);

    void set_session(Session* session);
    void set_memory(HistogramMemory memory);
    void set_measure(HistogramMeasure measure);
    /// Shows lifetimes in iterations; has no effect on runs without iterations.
    void set_by_iterations(bool by_iterations);
    HistogramView& sizes() { return *sizes_; }
    HistogramView& lifetimes() { return *lifetimes_; }
    /// Returns the words above the histograms: what is counted, or the part that is brushed.
    QString summary() const;
    void clear_brush();
    bool has_brush() const { return size_brush_ || lifetime_brush_; }
    bool busy() const { return task_.busy() || delay_.isActive(); }

signals:
    void memory_selected();  ///< a brush has selected allocations

protected:
    void showEvent(QShowEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    /// Values instead of bins: they stay when another memory has other bins.
    struct Brush {
        HistogramBin first, last;
    };

    QWidget* make_toolbar();
    bool has_memory(HistogramMemory memory) const;
    HistogramMemory memory() const;
    void follow_selection();
    void follow_growth();
    void schedule();
    void request();
    void take(std::shared_ptr<const ShownHistograms> shown);
    void brush(std::optional<Brush>& brush, const HistogramView& view, const std::optional<BinRange>& range,
               bool is_final);
    std::optional<BinRange> bins_of(const std::optional<Brush>& brush, HistogramOf of) const;
    void select_brushed(bool is_step);
    QString brush_name() const;
    void show_numbers();
    void show_note();

    QPointer<Session> session_;
    bool stale_ = false;
    std::shared_ptr<const ShownHistograms> shown_;
    std::optional<Brush> size_brush_, lifetime_brush_;
    AllocationSet finding_;  ///< selected elsewhere
    QString finding_name_;
    AllocationSet brushed_;  ///< selected by this pane; null: by others, or nothing
    LatestOnly<ShownHistograms> task_;
    QTimer delay_;
    QComboBox* memory_;
    QComboBox* measure_;
    QComboBox* unit_;
    QToolButton* clear_;
    QLabel* summary_;
    QLabel* note_;
    HistogramView* sizes_;
    HistogramView* lifetimes_;
};

}  // namespace tidemark::gui
