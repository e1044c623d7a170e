// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The memory of the selected finding over time, on a scale of its own: growth that is small beside the rest of the
// memory can be seen. Hidden while there is nothing to draw.
#pragma once

#include <optional>

#include "gui/model/finding_curve.h"
#include "gui/model/latest_only.h"
#include "gui/widgets/time_plot.h"

namespace tidemark::gui {

class FindingPlot : public TimePlot {
    Q_OBJECT
public:
    explicit FindingPlot(QWidget* parent = nullptr);
    /// Returns what is drawn; nothing while the plot is hidden. The memory of another finding follows a moment after it
    /// was selected: a leak may have a million allocations.
    const std::optional<FindingCurve>& curve() const { return *shown_; }
    /// Returns the time until which the finding's allocations are known; nothing if the explanation is current.
    std::optional<int64_t> known_until() const;
    QSize sizeHint() const override { return {400, 110}; }

protected:
    void session_changed() override;
    void session_grown() override;
    void paint_picture(QCPPainter& painter) override;
    QString describe(QPoint point) override;
    QString describe_ends(std::pair<double, double> range) const override;

private:
    using ShownCurve = std::shared_ptr<const std::optional<FindingCurve>>;  ///< not null
    static ShownCurve no_curve() { return std::make_shared<const std::optional<FindingCurve>>(); }
    void follow_explanation();
    void take_finding();
    void show_curve(ShownCurve shown);
    QString title(const QFontMetrics& metrics, int width) const;
    QString title_tip() const;

    QPointer<ExplanationSource> source_;
    ShownCurve shown_ = no_curve();
    int finding_ = -1;                            ///< whose curve is drawn or made
    std::shared_ptr<const Explained> explained_;  ///< of it
    LatestOnly<std::optional<FindingCurve>> task_;
};

}  // namespace tidemark::gui
