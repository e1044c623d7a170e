// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The answer, above everything else: whether memory grows, the first finding, what to change. While the trace is
// compared with another one, how both differ.
#pragma once

#include <QPointer>
#include <QWidget>

#include "gui/model/latest_only.h"
#include "gui/model/session.h"
#include "storage/compare/compare.h"

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
    /// Says how the trace, A, differs from B; null: B is none. Both have a device.
    void compare_with(std::shared_ptr<Session> other);
    QString plain_text() const;

signals:
    void finding_requested(int finding);  ///< its position among the explanation's findings

protected:
    void changeEvent(QEvent* event) override;

private:
    void fill();
    void show_state();
    void show_explanation(const Explained& explained);
    void compare_peaks();
    void show_difference();
    QStringList sentences_about_findings() const;

    QPointer<Session> session_;
    std::shared_ptr<Session> other_;  ///< B; null: nothing is compared
    std::shared_ptr<const Comparison> comparison_;
    LatestOnly<Comparison> task_;
    QHBoxLayout* row_;
    SeverityMark* mark_ = nullptr;  ///< of the first finding
    TextBlock* text_;
};

}  // namespace tidemark::gui
