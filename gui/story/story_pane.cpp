// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/story/story_pane.h"

#include <QClipboard>
#include <QEvent>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QProgressBar>
#include <QPushButton>
#include <QScrollArea>
#include <QScrollBar>
#include <QToolButton>
#include <QVBoxLayout>

#include "gui/model/explained.h"
#include "gui/model/text.h"
#include "gui/story/finding_card.h"
#include "gui/story/share_bar.h"
#include "gui/story/sparkline.h"
#include "gui/story/walk_bar.h"
#include "gui/widgets/text_block.h"
#include "gui/widgets/toolbar.h"
#include "storage/report/phrases.h"

namespace tidemark::gui {

namespace {

constexpr int polling_pause = 100;  // milliseconds
constexpr int margin = 8, gap = 8;

TextBlock* heading(const QString& text) {
    auto* block = new TextBlock(text);
    block->show_html(QStringLiteral("<b>%1</b>").arg(text.toHtmlEscaped()));
    return block;
}

TextBlock* paragraphs(const QString& name, const std::vector<std::string>& sentences) {
    QString html;
    for (const std::string& sentence : sentences) {
        html += QStringLiteral("<p style=\"margin:0 0 5px 0\">%1</p>").arg(rich_text(to_qstring(sentence)));
    }
    auto* block = new TextBlock(name);
    QFont font = block->font();
    font.setPointSizeF(font.pointSizeF() * 1.15);
    block->setFont(font);
    block->show_html(html);
    return block;
}

}  // namespace

StoryPane::StoryPane(QWidget* parent)
    : QWidget(parent),
      making_curves_(this, OnNewerRequest::cancel_running,
                     [this](std::shared_ptr<const Curves> curves) {
                         curves_ = std::move(curves);
                         show_curves();
                     }),
      scroll_(new QScrollArea),
      walk_(new WalkBar) {
    setAccessibleName(tr("Why: the composition of the memory, and the findings"));
    scroll_->setWidgetResizable(true);
    scroll_->setFrameShape(QFrame::NoFrame);
    scroll_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    scroll_->setFocusPolicy(Qt::NoFocus);
    walk_->hide();
    note_page_ = make_note();
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(2);
    column->addWidget(make_header());
    column->addWidget(note_page_, 1);
    column->addWidget(scroll_, 1);
    column->addWidget(walk_);
    poll_.setInterval(polling_pause);
    connect(&poll_, &QTimer::timeout, this, &StoryPane::show_state);
    connect(walk_, &WalkBar::step_requested, this, &StoryPane::show_step);
    connect(walk_, &WalkBar::end_requested, this, &StoryPane::end_walk);
    set_session(nullptr);
}

QWidget* StoryPane::make_header() {
    auto* title = new QLabel(QStringLiteral("<b>%1</b>").arg(tr("Why").toHtmlEscaped()));
    as_of_ = new QLabel;
    as_of_->setAccessibleName(tr("Age of this explanation"));
    again_ =
        tool_button(tr("Explain now"), tr("Explains the run again, up to its newest event"), [this] { explain_now(); });
    copy_ = tool_button(tr("Copy"), tr("Copy the explanation as text"), [this] { copy_text(); });
    auto* close = tool_button(QStringLiteral("«"), tr("Hide this pane (Y)"), [this] { emit close_requested(); });
    auto* header = new QWidget;
    auto* row = new QHBoxLayout(header);
    row->setContentsMargins(margin, 2, 2, 0);
    row->addWidget(title);
    row->addWidget(as_of_, 1);
    row->addWidget(again_);
    row->addWidget(copy_);
    row->addWidget(close);
    return header;
}

QWidget* StoryPane::make_note() {
    note_ = new QLabel;
    note_->setTextFormat(Qt::PlainText);
    note_->setWordWrap(true);
    note_->setAlignment(Qt::AlignCenter);
    note_->setAccessibleName(tr("State of the explanation"));
    progress_ = new QProgressBar;
    progress_->setRange(0, 100);
    progress_->setTextVisible(false);
    progress_->setFixedHeight(6);
    explain_now_ = new QPushButton(tr("Explain now"));
    connect(explain_now_, &QPushButton::clicked, this, &StoryPane::explain_now);
    auto* page = new QWidget;
    auto* column = new QVBoxLayout(page);
    column->setContentsMargins(24, 24, 24, 24);
    column->addStretch(1);
    column->addWidget(note_);
    column->addWidget(progress_);
    column->addWidget(explain_now_, 0, Qt::AlignHCenter);
    column->addStretch(3);
    return page;
}

// ---- the session ----------------------------------------------------------------------------------------------------

void StoryPane::set_session(Session* session) {
    if (session_) {
        session_->disconnect(this);
        session_->explanation_source().disconnect(this);
    }
    session_ = session;
    if (session_) {
        ExplanationSource& source = session_->explanation_source();
        connect(&source, &ExplanationSource::changed, this, &StoryPane::take_explanation);
        connect(&source, &ExplanationSource::state_changed, this, &StoryPane::show_state);
        connect(&source, &ExplanationSource::selected_changed, this, &StoryPane::mark_selected);
        connect(session_, &Session::live_changed, this, &StoryPane::show_state);
        connect(session_, &Session::grown, this, &StoryPane::show_state);
        source.request();
    }
    take_explanation();
}

void StoryPane::explain_now() {
    if (session_ && session_->has_device()) {
        session_->explanation_source().explain_now();
    }
}

void StoryPane::take_explanation() {
    end_walk();
    explained_ = session_ ? session_->explanation_source().explained() : nullptr;
    make_curves();
    fill();
    show_state();
    emit explained_changed();
}

QString StoryPane::note_text() const { return note_page_->isHidden() ? QString() : note_->text(); }

void StoryPane::show_state() {
    using State = ExplanationSource::State;
    const bool has_device = session_ && session_->has_device();
    const State state = has_device ? session_->explanation_source().state() : State::not_requested;
    const bool live = has_device && session_->is_live();
    const bool working = state == State::working;
    if (!has_device) {
        note_->setText(session_ ? tr("This trace has no memory events of any device: there is nothing to explain.")
                                : tr("Open a trace to read the explanation of its memory."));
    } else if (working) {
        note_->setText(tr("Explaining…"));
    } else if (state == State::failed) {
        note_->setText(tr("The explanation failed: %1").arg(session_->explanation_source().problem()));
    } else {
        note_->setText(tr("The run continues. Tidemark explains it as it grows, or with “Explain now”."));
    }
    const bool outdated = explained_ && !session_->explanation_source().is_current();
    as_of_->setText(working && explained_ ? tr("Explaining…")
                    : outdated            ? tr("as of %1").arg(duration_text(explained_->until()))
                                          : QString());
    again_->setVisible(explained_ && live && !working);
    copy_->setVisible(explained_ != nullptr);
    explain_now_->setVisible(live && !working);
    progress_->setVisible(working);
    note_page_->setVisible(explained_ == nullptr);
    scroll_->setVisible(explained_ != nullptr);
    if (working) {
        progress_->setValue(static_cast<int>(session_->explanation_source().fraction() * 100));
        poll_.start();
    } else {
        poll_.stop();
    }
}

// ---- the explanation -------------------------------------------------------------------------------------------

void StoryPane::fill() {
    cards_.clear();
    delete scroll_->takeWidget();
    if (!explained_) {
        return;
    }
    auto* content = new QWidget;
    auto* column = new QVBoxLayout(content);
    column->setContentsMargins(margin, 2, margin, margin);
    column->setSpacing(gap);
    add_title(*column);
    add_findings(*column);
    add_composition(*column);
    add_unknowns(*column);
    column->addStretch(1);
    scroll_->setWidget(content);
    mark_selected();
    show_notes();
    show_curves();
}

void StoryPane::add_title(QVBoxLayout& column) {
    const Theme theme = Theme::current();
    auto* about = new TextBlock(tr("Device and time"));
    about->show_html(QStringLiteral("<span style=\"color:%1\">%2</span>")
                         .arg(theme.faint_text.name(),
                              rich_text(to_qstring(page_title(explained_->reported(), explained_->words())))));
    column.addWidget(about);
    if (with_answer_) {
        column.addWidget(paragraphs(tr("Answer"), explained_->explanation.answer));
    }
}

/// What the memory consists of, after what the user may change about it.
void StoryPane::add_composition(QVBoxLayout& column) {
    const Explanation& explanation = explained_->explanation;
    const auto& answer = explanation.answer;
    std::vector<std::string> sentences;
    for (const std::string& sentence : explanation.summary) {
        if (std::find(answer.begin(), answer.end(), sentence) == answer.end()) {
            sentences.push_back(sentence);
        }
    }
    auto* shares = new ShareBar;
    shares->show_shares(explanation, explained_->context->row().bytes_of(ComponentKind::other_processes));
    column.addSpacing(gap / 2);
    column.addWidget(heading(tr("Where the memory is")));
    column.addWidget(paragraphs(tr("Summary"), sentences));
    column.addWidget(shares);
}

void StoryPane::add_findings(QVBoxLayout& column) {
    const auto& findings = explained_->explanation.findings;
    std::vector<int> background;
    int number = 0;
    for (size_t i = 0; i < findings.size(); ++i) {
        if (findings[i].severity == Severity::background) {
            background.push_back(static_cast<int>(i));
            continue;
        }
        if (number == 0) {
            column.addSpacing(gap / 2);
            column.addWidget(heading(tr("Findings")));
        }
        column.addWidget(make_card(static_cast<int>(i), ++number));
    }
    if (number > 0 && cards_.front()->finding().severity <= Severity::waste) {
        cards_.front()->set_open(true);
    }
    add_background(column, background);
}

void StoryPane::add_background(QVBoxLayout& column, const std::vector<int>& findings) {
    if (findings.empty()) {
        return;
    }
    auto* fold = new QToolButton;
    fold->setText(tr("Background (%1)").arg(findings.size()));
    fold->setToolTip(tr("Memory that every program on a GPU uses"));
    fold->setAccessibleName(fold->toolTip());
    fold->setAutoRaise(true);
    fold->setObjectName(QStringLiteral("background"));
    fold->setArrowType(Qt::RightArrow);
    fold->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    fold->setCheckable(true);
    column.addWidget(fold, 0, Qt::AlignLeft);
    for (const int finding : findings) {
        FindingCard* card = make_card(finding, 0);
        card->hide();
        connect(fold, &QToolButton::toggled, card, &QWidget::setVisible);
        column.addWidget(card);
    }
    connect(fold, &QToolButton::toggled, fold,
            [fold](bool open) { fold->setArrowType(open ? Qt::DownArrow : Qt::RightArrow); });
}

void StoryPane::add_unknowns(QVBoxLayout& column) {
    const auto& unknowns = explained_->explanation.unknowns;
    if (unknowns.empty()) {
        return;
    }
    QString html = QStringLiteral("<p style=\"margin:0\"><b>%1</b></p>").arg(tr("Not recorded").toHtmlEscaped());
    for (const std::string& unknown : unknowns) {
        html += QStringLiteral("<p style=\"margin:3px 0 0 0; color:%1\">%2</p>")
                    .arg(Theme::current().faint_text.name(), rich_text(to_qstring(unknown)));
    }
    auto* block = new TextBlock(tr("Not recorded"));
    block->show_html(html);
    column.addWidget(block);
}

FindingCard* StoryPane::make_card(int finding, int number) {
    auto* card = new FindingCard(explained_, finding, number);
    connect(card, &FindingCard::activated, this, [this, card] {
        if (session_->explanation_source().selected() == card->position() && card->is_open()) {
            card->set_open(false);
        } else {
            select_finding(card->position());
        }
    });
    connect(card, &FindingCard::evidence_requested, this, [this, finding](int step) {
        end_walk();
        show_evidence(finding, step);
    });
    connect(card, &FindingCard::path_step_requested, this, [this, card](int step) {
        end_walk();
        show_place(*card, evidence_of(card->finding(), card->finding().path[static_cast<size_t>(step)]));
    });
    connect(card, &FindingCard::memory_requested, this, [this, card] {
        end_walk();
        show_memory(*card);
        emit memory_list_requested();
    });
    connect(card, &FindingCard::walk_requested, this, [this, finding] { walk(finding); });
    connect(card, &FindingCard::note_requested, this, [this, finding] { emit note_requested(finding); });
    cards_.push_back(card);
    return card;
}

FindingCard* StoryPane::card_of(int finding) const {
    const auto found =
        std::find_if(cards_.begin(), cards_.end(), [&](const FindingCard* c) { return c->position() == finding; });
    return found == cards_.end() ? nullptr : *found;
}

QString StoryPane::plain_text() const {
    return explained_ ? to_qstring(report_text(explained_->reported(), explained_->words(), {})) : QString();
}

void StoryPane::copy_text() const { QGuiApplication::clipboard()->setText(plain_text()); }

// ---- evidence in the panes ----------------------------------------------------------------------------------------

void StoryPane::select_finding(int finding) {
    end_walk();
    if (FindingCard* card = card_of(finding)) {
        if (auto* fold = scroll_->findChild<QToolButton*>(QStringLiteral("background"));
            fold != nullptr && card->finding().severity == Severity::background) {
            fold->setChecked(true);
        }
        card->set_open(true);
        show_memory(*card);
        // The height of the open card is known after the next layout.
        QTimer::singleShot(0, card, [this, card] {
            const QPoint top = card->mapTo(scroll_->widget(), QPoint(0, 0));
            scroll_->ensureVisible(0, top.y() + std::min(card->height(), scroll_->viewport()->height() - gap), 0, 0);
            scroll_->ensureVisible(0, top.y(), 0, gap);
        });
    }
}

/// Shows the finding's own memory; of a finding that is not about allocations, its first evidence.
void StoryPane::show_memory(const FindingCard& card) {
    const auto memory = selection_of_memory(*session_, explained_, card.finding());
    if (!memory) {
        show_evidence(card.position(), 0);
        return;
    }
    session_->explanation_source().select(card.position());
    session_->selection().select(*memory);
    emit evidence_shown(ShownBy::any, {});
}

void StoryPane::show_evidence(int finding, int step) {
    const FindingCard* card = card_of(finding);
    if (card == nullptr) {
        return;
    }
    const std::vector<Evidence> steps = steps_of(*explained_, card->finding());
    if (step < 0 || step >= static_cast<int>(steps.size())) {
        return;
    }
    show_place(*card, steps[static_cast<size_t>(step)]);
}

void StoryPane::show_place(const FindingCard& card, const Evidence& evidence) {
    session_->explanation_source().select(card.position());
    session_->selection().select(selection_of(*session_, explained_, card.finding(), evidence));
    emit evidence_shown(shown_by(*session_, card.finding(), evidence), evidence);
}

/// Curves are made off this thread: a leak may have a million allocations.
void StoryPane::make_curves() {
    making_curves_.abandon();
    curves_.reset();
    if (!explained_ || !explained_->context) {
        return;
    }
    making_curves_.start([explained = explained_](Progress& progress) {
        auto curves = std::make_shared<Curves>(explained->explanation.findings.size());
        for (size_t i = 0; i < curves->size() && !progress.canceled; ++i) {
            if (const auto curve = FindingCurve::of(explained, static_cast<int>(i))) {
                (*curves)[i] = curve->over_run(Sparkline::columns);
            }
        }
        return curves;
    });
}

void StoryPane::show_curves() {
    for (FindingCard* card : cards_) {
        if (const auto finding = static_cast<size_t>(card->position()); curves_ && finding < curves_->size()) {
            card->show_curve((*curves_)[finding]);
        }
    }
}

void StoryPane::mark_selected() {
    const int selected = session_ ? session_->explanation_source().selected() : -1;
    for (FindingCard* card : cards_) {
        card->set_selected(card->position() == selected);
    }
}

void StoryPane::walk(int finding) {
    if (card_of(finding) != nullptr) {
        walked_ = finding;
        show_step(0);
    }
}

void StoryPane::show_step(int step) {
    const FindingCard* card = card_of(walked_);
    if (card == nullptr) {
        return;
    }
    const std::vector<Evidence> steps = steps_of(*explained_, card->finding());
    show_evidence(walked_, step);
    walk_->show_step(to_qstring(card->finding().title), step, static_cast<int>(steps.size()),
                     to_qstring(steps[static_cast<size_t>(step)].text));
}

bool StoryPane::end_walk() {
    if (walked_ < 0) {
        return false;
    }
    FindingCard* card = card_of(std::exchange(walked_, -1));
    walk_->hide();
    if (card != nullptr) {
        card->setFocus();
    }
    return true;
}

/// The picture has no summary bar, so it contains the answer.
void StoryPane::render_to(QPaintDevice& device, QSize size) {
    const QSize before = this->size();
    with_answer_ = true;
    refill();
    resize(size);
    QPainter painter(&device);
    render(&painter);
    with_answer_ = false;
    refill();
    resize(before);
}

/// Makes the content again; open cards stay open.
void StoryPane::refill() {
    std::vector<int> open;
    for (const FindingCard* card : cards_) {
        if (card->is_open()) {
            open.push_back(card->position());
        }
    }
    const int place = scroll_->verticalScrollBar()->value();
    fill();
    for (FindingCard* card : cards_) {
        card->set_open(std::find(open.begin(), open.end(), card->position()) != open.end());
    }
    scroll_->verticalScrollBar()->setValue(place);
}

void StoryPane::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange && explained_) {
        refill();
    }
}

}  // namespace tidemark::gui
