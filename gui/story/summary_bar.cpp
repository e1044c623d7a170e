// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/story/summary_bar.h"

#include <QEvent>
#include <QHBoxLayout>
#include <QTextDocument>
#include <QUrl>
#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "gui/model/explained.h"
#include "gui/model/palette.h"
#include "gui/model/text.h"
#include "gui/widgets/severity_mark.h"
#include "gui/widgets/text_block.h"
#include "storage/report/difference.h"
#include "storage/report/phrases.h"
#include "storage/timeline/time_point.h"

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

QString faint(const QString& text) {
    return QStringLiteral("<span style=\"color:%1\">%2</span>")
        .arg(Theme::current().faint_text.name(), text.toHtmlEscaped());
}

StateOf state_at_peak(const Analysis& analysis) {
    return {analysis.trace(), analysis.device(), analysis.live(),
            peak_time_point(analysis.trace(), analysis.device(), analysis.curves())};
}

/// Returns the titles of findings that cost memory and of which `is_wanted` is true, as links to A's if `are_links`.
/// Only the first two: the bar is no list.
QStringList titles_of(const std::vector<Finding>& findings, bool are_links,
                      const std::function<bool(const Finding&)>& is_wanted) {
    QStringList titles;
    for (size_t i = 0; i < findings.size() && titles.size() < 2; ++i) {
        if (costs_memory(findings[i]) && is_wanted(findings[i])) {
            const QString title = rich_text(to_qstring(findings[i].title));
            titles << (are_links ? QStringLiteral("<a href=\"%1\">%2</a>").arg(QString::number(i), title) : title);
        }
    }
    return titles;
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
    : QWidget(parent),
      task_(this, OnNewerRequest::finish_running,
            [this](auto comparison) {
                comparison_ = std::move(comparison);
                fill();
            }),
      row_(new QHBoxLayout(this)),
      text_(new Answer(tr("Summary"))) {
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
        session_->selection().disconnect(this);
        session_->explanation_source().disconnect(this);
    }
    compare_with(nullptr);
    session_ = session;
    if (session_) {
        connect(session_, &Session::grown, this, &SummaryBar::compare_peaks);
        connect(&session_->selection(), &Selection::device_changed, this, &SummaryBar::compare_peaks);
        connect(&session_->explanation_source(), &ExplanationSource::changed, this, &SummaryBar::fill);
        connect(&session_->explanation_source(), &ExplanationSource::state_changed, this, &SummaryBar::show_state);
        connect(session_, &Session::live_changed, this, &SummaryBar::fill);
    }
    fill();
}

QString SummaryBar::plain_text() const { return text_->text(); }

void SummaryBar::fill() {
    delete std::exchange(mark_, nullptr);
    if (session_ && other_) {
        show_difference();
        return;
    }
    if (const auto explained = session_ ? session_->explanation_source().explained() : nullptr) {
        show_explanation(*explained);
    }
    show_state();
}

/// The first explanation of a run is awaited in the place of its answer.
void SummaryBar::show_state() {
    if (session_ && other_) {
        return;
    }
    const bool is_explained = session_ && session_->explanation_source().explained();
    const bool is_awaited = session_ && session_->explanation_source().state() == ExplanationSource::State::working;
    if (!is_explained) {
        text_->show_html(faint(tr("Explaining…")));
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
        sentences << QStringLiteral("<a href=\"%1\">%2</a>")
                         .arg(first)
                         .arg(tr("Show the evidence").toHtmlEscaped().replace(u' ', QChar::Nbsp));
    }
    if (session_->is_live()) {
        sentences << faint(tr("As of %1.").arg(duration_text(explained.until())));
    }
    text_->show_html(sentences.join(' '));
}

// --- Comparing with another trace ---------------------------------------------------------------------------------

void SummaryBar::compare_with(std::shared_ptr<Session> other) {
    if (other_) {
        other_->selection().disconnect(this);
        other_->explanation_source().disconnect(this);
    }
    task_.abandon();
    comparison_ = nullptr;
    other_ = std::move(other);
    if (other_) {
        connect(&other_->selection(), &Selection::device_changed, this, &SummaryBar::compare_peaks);
        connect(&other_->explanation_source(), &ExplanationSource::changed, this, &SummaryBar::fill);
        other_->explanation_source().request();
        compare_peaks();
    }
    fill();
}

void SummaryBar::compare_peaks() {
    if (session_ && other_) {
        task_.start([a = session_->shared_analysis(), b = other_->shared_analysis()](Progress&) {
            return std::make_shared<const Comparison>(compare(state_at_peak(*a), state_at_peak(*b), GroupBy::line));
        });
    }
}

void SummaryBar::show_difference() {
    if (!comparison_) {
        text_->show_html(faint(tr("Comparing A and B…")));
    } else {
        const Words words = reader_words();
        QStringList sentences;
        for (const std::string& sentence : {difference_sentence(*comparison_, both_at_their_peak(words), words),
                                            largest_difference_sentence(*comparison_, GroupBy::line, words)}) {
            sentences << to_qstring(sentence).toHtmlEscaped();
        }
        sentences << sentences_about_findings() << faint(to_qstring(renamed_files_sentence(*comparison_, words)));
        text_->show_html(sentences.join(' '));
    }
    setVisible(true);
}

/// Says which leaks, failures and waste only one of both has; otherwise, which both have.
QStringList SummaryBar::sentences_about_findings() const {
    const auto explained_a = session_->explanation_source().explained(),
               explained_b = other_->explanation_source().explained();
    if (!explained_a || !explained_b) {
        return {};
    }
    const auto &a = explained_a->explanation.findings, &b = explained_b->explanation.findings;
    const auto& renamed = comparison_->renamed;
    const QStringList of_a = titles_of(a, true, [&](const Finding& each) { return is_only_in_a(each, b, renamed); });
    const QStringList of_b = titles_of(b, false, [&](const Finding& each) { return is_only_in_b(each, a, renamed); });
    const QStringList shared =
        of_a.isEmpty() && of_b.isEmpty() ? titles_of(a, true, [](const Finding&) { return true; }) : QStringList();
    QStringList sentences;
    for (const auto& [sentence, titles] :
         {std::pair(tr("Only A has: %1."), of_a), std::pair(tr("Only B has: %1."), of_b),
          std::pair(tr("Both have: %1."), shared)}) {
        if (!titles.isEmpty()) {
            sentences << sentence.arg(titles.join(tr("; ", "between titles of findings")));
        }
    }
    return sentences;
}

void SummaryBar::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange) {
        fill();
    }
}

}  // namespace tidemark::gui
