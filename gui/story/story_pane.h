// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The composition of the memory, and the findings with their evidence one click away. The answer itself is in the
// summary bar above.
#pragma once

#include <QPointer>
#include <QTimer>
#include <QWidget>
#include <vector>

#include "gui/model/evidence_place.h"
#include "gui/model/finding_curve.h"
#include "gui/model/latest_only.h"
#include "gui/model/notes_source.h"

class QLabel;
class QProgressBar;
class QPushButton;
class QScrollArea;
class QToolButton;
class QVBoxLayout;

namespace tidemark::gui {

class FindingCard;
class WalkBar;

class StoryPane : public QWidget {
    Q_OBJECT
public:
    explicit StoryPane(QWidget* parent = nullptr);
    void set_session(Session* session);
    /// Shows its notes on the cards. It must outlive the pane's last use of it; null: none.
    void set_notes(NotesSource* notes);

    /// Returns the text of "Copy explanation"; empty while there is none.
    QString plain_text() const;
    void copy_text() const;
    bool has_explanation() const { return explained_ != nullptr; }
    /// Opens a finding's card, and shows its memory in every pane; if it is not about allocations, its first piece of
    /// evidence. Unknown numbers are ignored.
    void select_finding(int finding);
    void show_evidence(int finding, int step);
    void show_place(const FindingCard& card, const Evidence& evidence);
    /// Walks through a finding's evidence step by step.
    void walk(int finding);
    /// Returns false if no walk was in progress.
    bool end_walk();
    void explain_now();

    const std::vector<FindingCard*>& cards() const { return cards_; }
    WalkBar& walk_bar() { return *walk_; }
    QString note_text() const;  ///< the note in place of an explanation; empty while there is one
    void render_to(QPaintDevice& device, QSize size);
    QSize sizeHint() const override { return {340, 600}; }

signals:
    void evidence_shown(tidemark::gui::ShownBy by, const tidemark::Evidence& evidence);
    void memory_list_requested();  ///< of the memory that is selected now
    void note_requested(int finding);
    void close_requested();
    void explained_changed();

protected:
    void changeEvent(QEvent* event) override;

private:
    QWidget* make_header();
    QWidget* make_note();
    void take_explanation();
    void fill();
    void refill();
    void add_title(QVBoxLayout& column);
    void add_findings(QVBoxLayout& column);
    void add_composition(QVBoxLayout& column);
    void add_background(QVBoxLayout& column, const std::vector<int>& findings);
    void add_unknowns(QVBoxLayout& column);
    FindingCard* make_card(int finding, int number);
    FindingCard* card_of(int finding) const;
    void make_curves();
    void show_curves();
    void mark_selected();
    void show_notes();
    void show_memory(const FindingCard& card);
    void show_state();
    void show_step(int step);

    QPointer<Session> session_;
    QPointer<NotesSource> notes_;
    std::shared_ptr<const Explained> explained_;
    std::vector<FindingCard*> cards_;
    /// Of each finding, in their order; empty: not made yet, or there is none.
    using Curves = std::vector<std::vector<FindingCurve::Column>>;
    std::shared_ptr<const Curves> curves_;
    LatestOnly<Curves> making_curves_;
    bool with_answer_ = false;  ///< the summary has the answer, too: in a picture, which has no summary bar
    int walked_ = -1;           ///< the finding whose evidence is walked through
    QTimer poll_;
    QScrollArea* scroll_;
    WalkBar* walk_;
    QWidget* note_page_;
    QLabel* note_;
    QLabel* as_of_;
    QProgressBar* progress_;
    QPushButton* explain_now_;
    QToolButton* again_;
    QToolButton* copy_;
};

}  // namespace tidemark::gui
