// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/story/finding_card.h"

#include <QFontDatabase>
#include <QHBoxLayout>
#include <QLabel>
#include <QMouseEvent>
#include <QPainter>
#include <QToolButton>
#include <QVBoxLayout>

#include "gui/model/text.h"
#include "gui/story/finding_body.h"
#include "gui/story/sparkline.h"
#include "gui/widgets/severity_mark.h"
#include "gui/widgets/text_block.h"
#include "gui/widgets/toolbar.h"
#include "storage/report/phrases.h"

namespace tidemark::gui {

FindingCard::FindingCard(std::shared_ptr<const Explained> explained, int position, int number, QWidget* parent)
    : QFrame(parent), explained_(std::move(explained)), position_(position), number_(number) {
    setFocusPolicy(Qt::StrongFocus);
    setCursor(Qt::PointingHandCursor);
    const QString severity = to_qstring(severity_title(explained_->words(), finding().severity));
    setAccessibleName(QStringLiteral("%1: %2").arg(severity, to_qstring(finding().title)));
    setAccessibleDescription(tr("Enter shows its evidence in every pane; left and right close and open it."));
    column_ = new QVBoxLayout(this);
    column_->setContentsMargins(12, 7, 8, 9);
    column_->setSpacing(5);
    column_->addWidget(make_head());
    head_ = new TextBlock(accessibleName());
    head_->pass_clicks();
    column_->addWidget(head_);
    fill_head();
}

QWidget* FindingCard::make_head() {
    const Words words = explained_->words();
    auto* mark = new SeverityMark(finding().severity, to_qstring(severity_title(words, finding().severity)));
    curve_ = new Sparkline(finding().severity);
    auto* size = new QLabel(bytes_text(static_cast<uint64_t>(finding().bytes)));
    size->setToolTip(exact_bytes_text(static_cast<uint64_t>(finding().bytes)));
    QFont bold = size->font();
    bold.setBold(true);
    size->setFont(bold);
    fold_ = tool_button({}, tr("Open or close this finding"), [this] { set_open(!open_); });
    fold_->setArrowType(Qt::RightArrow);
    fold_->setFocusPolicy(Qt::NoFocus);
    auto* head = new QWidget;
    auto* row = new QHBoxLayout(head);
    row->setContentsMargins(0, 0, 0, 0);
    row->addWidget(mark);
    row->addStretch(1);
    row->addWidget(curve_);
    row->addStretch(1);
    row->addWidget(size);
    size->setVisible(finding().bytes != 0);
    row->addWidget(fold_);
    return head;
}

void FindingCard::fill_head() {
    const Theme theme = Theme::current();
    const QString number = number_ > 0 ? QStringLiteral("%1. ").arg(number_) : QString();
    QString html = QStringLiteral("<b>%1%2</b>").arg(number, rich_text(to_qstring(finding().title)));
    html += QStringLiteral("<table cellspacing=\"0\" cellpadding=\"0\" style=\"margin-top:3px\">");
    const QString size = bytes_text(static_cast<uint64_t>(finding().bytes));
    for (const LabeledFact& fact : facts_of(finding(), explained_->words())) {
        if (to_qstring(fact.value) == size) {
            continue;  // the head shows it beside the severity
        }
        html +=
            QStringLiteral("<tr><td style=\"color:%1; padding-right:8px; white-space:nowrap\">%2</td><td>%3</td></tr>")
                .arg(theme.faint_text.name(), to_qstring(fact.label).toHtmlEscaped(),
                     rich_text(to_qstring(fact.value)));
    }
    head_->show_html(html + QStringLiteral("</table>"));
}

void FindingCard::set_open(bool open) {
    open_ = open;
    fold_->setArrowType(open ? Qt::DownArrow : Qt::RightArrow);
    if (open && body_ == nullptr) {
        body_ = new FindingBody(explained_, finding());
        body_->setCursor(Qt::ArrowCursor);
        connect(body_, &FindingBody::evidence_requested, this, &FindingCard::evidence_requested);
        connect(body_, &FindingBody::path_step_requested, this, &FindingCard::path_step_requested);
        connect(body_, &FindingBody::walk_requested, this, &FindingCard::walk_requested);
        connect(body_, &FindingBody::memory_requested, this, &FindingCard::memory_requested);
        column_->addWidget(body_);
        add_note_ = tool_button({}, {}, [this] { emit note_requested(); });
        add_note_->setFocusPolicy(Qt::StrongFocus);
        column_->addWidget(add_note_, 0, Qt::AlignLeft);
        show_note();
    }
    if (body_ != nullptr) {
        body_->setVisible(open);
        add_note_->setVisible(open && note_text_);
    }
}

void FindingCard::show_curve(std::vector<FindingCurve::Column> columns) { curve_->show_columns(std::move(columns)); }

void FindingCard::set_note(const QString& text) {
    if (note_text_ != text) {
        note_text_ = text;
        show_note();
    }
}

void FindingCard::show_note() {
    if (!note_text_) {
        return;
    }
    if (note_ == nullptr && !note_text_->isEmpty()) {
        note_ = new TextBlock(tr("Your note"));
        note_->pass_clicks();
        column_->insertWidget(column_->indexOf(head_) + 1, note_);
    }
    if (note_ != nullptr) {
        note_->show_html(tr("<b>Your note:</b> %1").arg(rich_text(*note_text_)));
        note_->setVisible(!note_text_->isEmpty());
    }
    if (add_note_ != nullptr) {
        add_note_->setText(note_text_->isEmpty() ? tr("Add a note…") : tr("Edit the note…"));
        add_note_->setAccessibleName(add_note_->text());
        add_note_->setVisible(open_);
    }
}

void FindingCard::set_selected(bool selected) {
    selected_ = selected;
    update();
}

void FindingCard::mouseReleaseEvent(QMouseEvent* event) {
    if (event->button() == Qt::LeftButton && rect().contains(event->position().toPoint())) {
        emit activated();
    }
}

void FindingCard::keyPressEvent(QKeyEvent* event) {
    switch (event->key()) {
        case Qt::Key_Return:
        case Qt::Key_Enter:
        case Qt::Key_Space: emit activated(); break;
        case Qt::Key_Right: set_open(true); break;
        case Qt::Key_Left: set_open(false); break;
        case Qt::Key_Down: focusNextChild(); break;
        case Qt::Key_Up: focusPreviousChild(); break;
        default: QFrame::keyPressEvent(event);
    }
}

void FindingCard::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    const Theme theme = Theme::current();
    painter.setRenderHint(QPainter::Antialiasing);
    const QRectF box = QRectF(rect()).adjusted(1, 1, -1, -1);
    painter.setBrush(theme.plot_background);
    painter.setPen(selected_ ? QPen(theme.selection, 2) : QPen(hasFocus() ? theme.text : theme.grid.darker(110), 1));
    painter.drawRoundedRect(box, 5, 5);
    painter.setPen(Qt::NoPen);
    painter.setBrush(severity_color(theme, finding().severity));
    painter.drawRoundedRect(QRectF(box.left() + 3, box.top() + 6, 3, box.height() - 12), 1.5, 1.5);
}

}  // namespace tidemark::gui
