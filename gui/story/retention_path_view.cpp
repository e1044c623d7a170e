// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/story/retention_path_view.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QVBoxLayout>
#include <algorithm>

#include "gui/model/palette.h"
#include "gui/model/text.h"
#include "gui/widgets/severity_mark.h"
#include "gui/widgets/text_block.h"

namespace tidemark::gui {

namespace {

constexpr int mark = 9, gutter = 18;  // pixels: a mark, and the column of marks
constexpr int bar_height = 3;

bool has_target(const RetentionStep& step) { return step.node != no_node || step.allocation; }

/// One step. The bar below the bytes is as long as their part of the largest step.
class StepRow : public QWidget {
public:
    StepRow(const RetentionStep& step, bool is_first, bool is_last, double part)
        : kind_(step.kind), is_first_(is_first), is_last_(is_last), part_(part) {
        text_ = new TextBlock(RetentionPathView::tr("Step of the retention path"));
        const QString text = rich_text(to_qstring(step.text));
        QString html = has_target(step) ? QStringLiteral("<a href=\"step\">%1</a>").arg(text) : text;
        if (!step.line.empty()) {
            html += QStringLiteral("<br><span style=\"color:%1\">%2</span>")
                        .arg(Theme::current().faint_text.name(), to_qstring(step.line).toHtmlEscaped());
        }
        text_->show_html(html);
        bytes_ = new QLabel(step.bytes ? bytes_text(*step.bytes) : QString());
        auto* row = new QHBoxLayout(this);
        row->setContentsMargins(gutter, 0, 0, 4);
        row->setSpacing(6);
        row->addWidget(text_, 1);
        row->addWidget(bytes_, 0, Qt::AlignTop);
    }

    TextBlock* text() const { return text_; }

protected:
    void paintEvent(QPaintEvent*) override {
        const Theme theme = Theme::current();
        QPainter painter(this);
        painter.setRenderHint(QPainter::Antialiasing);
        const double center = bytes_->geometry().top() + fontMetrics().height() / 2.0, x = mark / 2.0 + 1;
        painter.setPen(QPen(theme.faint_text, 1.5));
        painter.drawLine(QPointF(x, is_first_ ? center : 0), QPointF(x, is_last_ ? center : height()));
        draw_mark(painter, theme, QRectF(x - mark / 2.0, center - mark / 2.0, mark, mark));
        if (part_ > 0) {
            const double right = bytes_->geometry().right() + 1, length = std::max(2.0, part_ * bytes_->width());
            painter.fillRect(QRectF(right - length, bytes_->geometry().bottom() + 1, length, bar_height),
                             severity_color(theme, Severity::leak));
        }
    }

private:
    void draw_mark(QPainter& painter, const Theme& theme, const QRectF& box) const {
        const QColor color = severity_color(theme, Severity::leak);
        painter.setPen(QPen(color, 1.5));
        painter.setBrush(kind_ == RetentionStep::Kind::allocation ? color : theme.plot_background);
        switch (kind_) {
            case RetentionStep::Kind::reference: painter.drawEllipse(box); break;
            case RetentionStep::Kind::skipped: break;
            default: painter.drawRect(box.adjusted(0.5, 0.5, -0.5, -0.5));
        }
    }

    RetentionStep::Kind kind_;
    bool is_first_, is_last_;
    double part_;
    TextBlock* text_;
    QLabel* bytes_;
};

}  // namespace

RetentionPathView::RetentionPathView(const std::vector<RetentionStep>& path, QWidget* parent) : QWidget(parent) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    const int64_t largest = largest_bytes(path);
    for (size_t i = 0; i < path.size(); ++i) {
        const auto bytes = static_cast<double>(path[i].bytes.value_or(0));
        auto* row =
            new StepRow(path[i], i == 0, i + 1 == path.size(), largest > 0 ? bytes / static_cast<double>(largest) : 0);
        row->setObjectName(QStringLiteral("step"));
        connect(row->text(), &TextBlock::anchorClicked, this, [this, i] { emit step_requested(static_cast<int>(i)); });
        column->addWidget(row);
    }
}

}  // namespace tidemark::gui
