// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/timeline/finding_plot.h"

#include <QTextLayout>
#include <algorithm>
#include <utility>

#include "gui/model/component_text.h"
#include "gui/model/plural.h"
#include "gui/model/text.h"
#include "gui/widgets/curve_line.h"
#include "gui/widgets/severity_mark.h"
#include "storage/base/units.h"

namespace tidemark::gui {

namespace {

constexpr double headroom = 1.12;
constexpr int title_room = 4;  // pixels beside the title

QString each_text(IterationSource unit, int64_t bytes) {
    return unit == IterationSource::steps ? FindingPlot::tr("+%1 per step").arg(bytes_text(bytes))
                                          : FindingPlot::tr("+%1 per iteration").arg(bytes_text(bytes));
}

/// Returns the bytes that the plot shows. Those of a failure are not what was requested.
QString bytes_of_memory(const Finding& finding) {
    return finding.kind == FindingKind::out_of_memory
               ? FindingPlot::tr("%1 that led to it").arg(bytes_text(finding.memory.bytes))
               : bytes_text(finding.bytes);
}

}  // namespace

FindingPlot::FindingPlot(QWidget* parent)
    : TimePlot(parent),
      task_(this, OnNewerRequest::cancel_running, [this](ShownCurve shown) { show_curve(std::move(shown)); }) {
    setObjectName(QStringLiteral("finding"));
    setAccessibleName(tr("Memory of the finding over time"));
    set_purpose(tr("Only the memory of the selected finding, on its own scale."));
    set_top_margin(fontMetrics().height() + 2);  // for the title: the plot is low, so that it would lie on the curve
    hide();
}

void FindingPlot::session_changed() { follow_explanation(); }

void FindingPlot::session_grown() { take_finding(); }

/// Also called when the grouping changes, so it connects only to another source.
void FindingPlot::follow_explanation() {
    ExplanationSource* source = session() != nullptr ? &session()->explanation_source() : nullptr;
    if (source != source_) {
        if (source_) {
            source_->disconnect(this);
        }
        source_ = source;
        if (source != nullptr) {
            connect(source, &ExplanationSource::changed, this, &FindingPlot::take_finding);
            connect(source, &ExplanationSource::selected_changed, this, &FindingPlot::take_finding);
        }
    }
    take_finding();
}

void FindingPlot::take_finding() {
    const int finding = has_data() ? finding_shown(*session()) : -1;
    const auto explained = finding >= 0 ? session()->explanation_source().explained() : nullptr;
    if (finding == finding_ && explained == explained_) {
        return;
    }
    finding_ = finding;
    explained_ = explained;
    if (!explained) {
        task_.abandon();
        show_curve(no_curve());
        return;
    }
    task_.start([explained, finding](Progress&) {
        return std::make_shared<const std::optional<FindingCurve>>(FindingCurve::of(explained, finding));
    });
}

void FindingPlot::show_curve(ShownCurve shown) {
    shown_ = std::move(shown);
    if (curve()) {
        set_whole_bytes(static_cast<double>(curve()->highest(*session())) * headroom);
    }
    setVisible(curve().has_value());
    repaint_picture();
}

std::optional<int64_t> FindingPlot::known_until() const {
    const bool is_outdated = curve() && !source_->is_current() && !curve()->finding().memory.allocations.empty();
    return is_outdated ? std::optional(curve()->explained().until()) : std::nullopt;
}

/// Returns the finding's title with its bytes, which stay complete if there is no room for all.
QString FindingPlot::title(const QFontMetrics& metrics, int width) const {
    const Finding& finding = curve()->finding();
    const bool is_component = finding.memory.allocations.empty();
    const QString name = to_qstring(finding.title).remove(QLatin1Char('`'));
    const QString bytes = is_component ? component_name({*finding.component, {}, 0, 0, 0}) : bytes_of_memory(finding);
    QStringList facts;
    if (!name.contains(bytes) || metrics.horizontalAdvance(name) > width) {
        facts << bytes;
    }
    if (finding.per_iteration) {
        facts << each_text(finding.unit, *finding.per_iteration);
    }
    if (const auto time = known_until()) {
        facts << tr("as of %1").arg(duration_text(*time));
    }
    const QString end = facts.isEmpty() ? QString() : QStringLiteral(" · ") + facts_text(facts);
    const int left = width - metrics.horizontalAdvance(end);
    return metrics.elidedText(name, Qt::ElideRight, std::max(left, 0)) + end;
}

void FindingPlot::paint_picture(QCPPainter& painter) {
    if (!curve()) {
        return;
    }
    const TimeView& view = session()->time_view();
    auto columns = curve()->columns(*session(), view.from(), view.to(), area().width());
    if (const auto known = known_until()) {
        const double last = x_map().pixel(view.position_of_time(*known)) - area().left();
        columns.resize(static_cast<size_t>(std::clamp(last + 1, 0.0, static_cast<double>(columns.size()))));
    }
    painter.save();
    painter.setClipRect(area(), Qt::IntersectClip);
    paint_curve(painter, columns, area().left(), area().bottom() + 1, y_map(),
                severity_color(theme(), curve()->finding().severity), theme().dark);
    painter.restore();
    // At the right, as the names of the lines above: the story may cover the left.
    const QRect above(area().left() + title_room, 0, area().width() - 2 * title_room, area().top());
    painter.setPen(theme().text);
    painter.drawText(above, Qt::AlignRight | Qt::AlignVCenter, title(QFontMetrics(painter.font()), above.width()));
}

/// Returns the title in full, in lines of a readable length: tips do not wrap.
QString FindingPlot::title_tip() const {
    constexpr int line_length = 480;  // pixels
    const QString text = title(fontMetrics(), QWIDGETSIZE_MAX);
    QTextLayout layout(text, font());
    QStringList lines;
    layout.beginLayout();
    for (QTextLine line = layout.createLine(); line.isValid(); line = layout.createLine()) {
        line.setLineWidth(line_length);
        lines << text.mid(line.textStart(), line.textLength()).toHtmlEscaped();
    }
    layout.endLayout();
    return lines.join(QStringLiteral("<br>"));
}

QString FindingPlot::describe_ends(std::pair<double, double> range) const {
    const auto bytes = [&](double at) { return bytes_text(curve()->at(*session(), at).bytes); };
    return curve() ? tr("%1 → %2").arg(bytes(range.first), bytes(range.second)) : QString();
}

QString FindingPlot::describe(QPoint point) {
    if (!curve()) {
        return {};
    }
    if (point.y() < area().top()) {
        return title_tip();
    }
    const double position = position_at(point.x());
    const FindingCurve::Value value = curve()->at(*session(), position);
    const int64_t time = session()->time_view().time_at(position);
    QString text =
        QStringLiteral("<b>%1</b><br>%2").arg(QString::fromStdString(format_time_point(time)), bytes_text(value.bytes));
    if (value.count) {
        text += QStringLiteral(" · ") +
                tr("%1 allocation(s) of this finding", nullptr, plural(*value.count)).arg(count_text(*value.count));
    }
    return text;
}

}  // namespace tidemark::gui
