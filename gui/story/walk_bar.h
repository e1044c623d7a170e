// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The walk through a finding's evidence: the step and the number of steps, its text, back and forward.
#pragma once

#include <QFrame>

class QLabel;
class QPushButton;

namespace tidemark::gui {

class TextBlock;

class WalkBar : public QFrame {
    Q_OBJECT
public:
    explicit WalkBar(QWidget* parent = nullptr);
    /// `step` counts from 0.
    void show_step(const QString& title, int step, int steps, const QString& text);
    int step() const { return step_; }
    int steps() const { return steps_; }
    QString text() const;

signals:
    void step_requested(int step);
    void end_requested();

protected:
    void keyPressEvent(QKeyEvent* event) override;

private:
    void go_on();

    int step_ = 0, steps_ = 0;
    QLabel* count_;
    TextBlock* text_;
    QPushButton* back_;
    QPushButton* next_;
};

}  // namespace tidemark::gui
