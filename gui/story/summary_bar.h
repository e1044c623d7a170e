// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The answer, above everything else: whether memory grows, the first finding, what to change.
#pragma once

#include <QPointer>
#include <QWidget>

#include "gui/model/session.h"

class QHBoxLayout;

namespace tidemark::gui {

class SeverityMark;
struct Explained;
class TextBlock;

/// Hidden while there is no explanation and none is made. Has room for an answer before that is known, so that the
/// plots below it stay where they are.
class SummaryBar : public QWidget {
    Q_OBJECT
public:
    explicit SummaryBar(QWidget* parent = nullptr);
    void set_session(Session* session);
    QString plain_text() const;

signals:
    void finding_requested(int finding);  ///< its position among the explanation's findings

protected:
    void changeEvent(QEvent* event) override;

private:
    void fill();
    void show_state();
    void show_explanation(const Explained& explained);

    QPointer<Session> session_;
    QHBoxLayout* row_;
    SeverityMark* mark_ = nullptr;  ///< of the first finding
    TextBlock* text_;
};

}  // namespace tidemark::gui
