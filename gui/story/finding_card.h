// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// One finding: its severity, title, bytes, line and referrer; an open card shows its text, evidence and fixes too.
#pragma once

#include <QFrame>
#include <optional>

#include "gui/model/explained.h"
#include "gui/model/finding_curve.h"

class QToolButton;
class QVBoxLayout;

namespace tidemark::gui {

class FindingBody;
class Sparkline;
class TextBlock;

class FindingCard : public QFrame {
    Q_OBJECT
public:
    /// `position` in Explanation::findings; `number` as shown on the card and the overview's flags; 0: none.
    FindingCard(std::shared_ptr<const Explained> explained, int position, int number, QWidget* parent = nullptr);

    int position() const { return position_; }
    const Finding& finding() const { return explained_->explanation.findings[static_cast<size_t>(position_)]; }
    bool is_open() const { return open_; }
    void set_open(bool open);
    void set_selected(bool selected);
    /// Shows the finding's memory over the run beside its severity.
    void show_curve(std::vector<FindingCurve::Column> columns);
    /// Shows the user's note below the title; empty: none. From then on an open card offers to write one.
    void set_note(const QString& text);

signals:
    void activated();  ///< a click, Enter
    void evidence_requested(int step);
    void path_step_requested(int step);  ///< of Finding::path
    void walk_requested();
    void memory_requested();
    void note_requested();  ///< the user wants to write or change the note

protected:
    void mouseReleaseEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void paintEvent(QPaintEvent* event) override;

private:
    QWidget* make_head();
    void fill_head();
    void show_note();

    std::shared_ptr<const Explained> explained_;
    int position_, number_;
    bool open_ = false, selected_ = false;
    QVBoxLayout* column_;
    Sparkline* curve_;
    TextBlock* head_;
    TextBlock* note_ = nullptr;         ///< null: none
    QToolButton* add_note_ = nullptr;   ///< made with the body
    std::optional<QString> note_text_;  ///< nothing: the card has no notes
    QToolButton* fold_;
    FindingBody* body_ = nullptr;  ///< made when first opened
};

}  // namespace tidemark::gui
