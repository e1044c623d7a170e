// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/story/summary_bar.h"

#include <QEvent>
#include <QHBoxLayout>
#include <QTextDocument>
#include <QUrl>
#include <algorithm>
#include <cmath>
#include <utility>

#include "gui/model/explained.h"
#include "gui/model/palette.h"
#include "gui/model/text.h"
#include "gui/widgets/severity_mark.h"
#include "gui/widgets/text_block.h"
#include "storage/report/phrases.h"

namespace tidemark::gui {

namespace {

const QString usual_answer = QStringLiteral("`code`\n`code`");  // most answers have two lines, with code in them

/// Returns the position of the first finding that is not background; -1: there is none.
int first_finding(const Explanation& explanation) {
    const auto& findings = explanation.findings;
    const auto first = std::find_if(findings.begin(), findings.end(),
                                    [](const Finding& finding) { return finding.severity != Severity::background; });
    return first == findings.end() ? -1 : static_cast<int>(first - findings.begin());
}

/// A text that wants the height of a usual answer at least, and stands in the middle of it.
class Answer : public TextBlock {
public:
    explicit Answer(const QString& name) : TextBlock(name) {
        // Queued: the height of the new text is known when it is complete.
        connect(this, &QTextEdit::textChanged, this, &Answer::center, Qt::QueuedConnection);
    }
    int heightForWidth(int width) const override { return std::max(TextBlock::heightForWidth(width), usual_height()); }

protected:
    void resizeEvent(QResizeEvent* event) override {
        center();
        TextBlock::resizeEvent(event);
    }

private:
    void center() {
        const int free = height() - TextBlock::heightForWidth(width());
        setViewportMargins(0, std::max(free / 2, 0), 0, 0);
    }
    int usual_height() const {
        QTextDocument usual;
        usual.setDocumentMargin(0);
        usual.setDefaultFont(font());
        usual.setHtml(rich_text(usual_answer));
        return static_cast<int>(std::ceil(usual.size().height()));
    }
};

}  // namespace

SummaryBar::SummaryBar(QWidget* parent)
    : QWidget(parent), row_(new QHBoxLayout(this)), text_(new Answer(tr("Summary"))) {
    setObjectName(QStringLiteral("summary_bar"));
    row_->setContentsMargins(8, 4, 8, 4);
    row_->setSpacing(10);
    row_->addWidget(text_, 1);
    QFont font = text_->font();
    font.setPointSizeF(font.pointSizeF() * 1.15);
    text_->setFont(font);
    connect(text_, &QTextBrowser::anchorClicked, this,
            [this](const QUrl& link) { emit finding_requested(link.toString().toInt()); });
    hide();
}

void SummaryBar::set_session(Session* session) {
    if (session_) {
        session_->disconnect(this);
        session_->explanation_source().disconnect(this);
    }
    session_ = session;
    if (session_) {
        connect(&session_->explanation_source(), &ExplanationSource::changed, this, &SummaryBar::fill);
        connect(&session_->explanation_source(), &ExplanationSource::state_changed, this, &SummaryBar::show_state);
        connect(session_, &Session::live_changed, this, &SummaryBar::fill);
    }
    fill();
}

QString SummaryBar::plain_text() const { return text_->text(); }

void SummaryBar::fill() {
    delete std::exchange(mark_, nullptr);
    if (const auto explained = session_ ? session_->explanation_source().explained() : nullptr) {
        show_explanation(*explained);
    }
    show_state();
}

/// The first explanation of a run is awaited in the place of its answer.
void SummaryBar::show_state() {
    const bool is_explained = session_ && session_->explanation_source().explained();
    const bool is_awaited = session_ && session_->explanation_source().state() == ExplanationSource::State::working;
    if (!is_explained) {
        text_->show_html(QStringLiteral("<span style=\"color:%1\">%2</span>")
                             .arg(Theme::current().faint_text.name(), tr("Explaining…").toHtmlEscaped()));
    }
    setVisible(is_explained || is_awaited);
}

void SummaryBar::show_explanation(const Explained& explained) {
    const Explanation& explanation = explained.explanation;
    QStringList sentences;
    for (const std::string& sentence : explanation.answer) {
        sentences << rich_text(to_qstring(sentence));
    }
    if (const int first = first_finding(explanation); first >= 0) {
        const Severity severity = explanation.findings[static_cast<size_t>(first)].severity;
        mark_ = new SeverityMark(severity, to_qstring(severity_title(explained.words(), severity)));
        row_->insertWidget(0, mark_, 0, Qt::AlignVCenter);
        sentences << QStringLiteral("<a href=\"%1\">%2</a>").arg(first).arg(tr("Show the evidence").toHtmlEscaped());
    }
    if (session_->is_live()) {
        sentences << QStringLiteral("<span style=\"color:%1\">%2</span>")
                         .arg(Theme::current().faint_text.name(),
                              tr("As of %1.").arg(duration_text(explained.until())).toHtmlEscaped());
    }
    text_->show_html(sentences.join(' '));
}

void SummaryBar::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange) {
        fill();
    }
}

}  // namespace tidemark::gui
