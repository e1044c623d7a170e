// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// File > Share…: a copy of the open trace without private texts.
#pragma once

#include <QDialog>
#include <QString>
#include <QTimer>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "gui/model/latest_only.h"
#include "storage/export/share.h"

class QCheckBox;
class QLabel;
class QLineEdit;
class QProgressBar;
class QPushButton;
class QRadioButton;
class QTreeWidget;

namespace tidemark::gui {

/// The trace to share, and the selected part of it (ns since trace start), if there is one.
struct ShareInput {
    QString trace;
    std::optional<std::pair<int64_t, int64_t>> range;
};

/// Writes in the background. Closing the dialog cancels.
class ShareDialog : public QDialog {
    Q_OBJECT
public:
    ShareDialog(ShareInput input, const QString& output, QWidget* parent = nullptr);

    QString status_text() const;
    /// Returns the rows of the preview: kind, number, before, after.
    QStringList preview_rows() const;
    bool previewing() const { return preview_.busy() || delay_.isActive(); }
    bool busy() const { return job_.busy(); }

signals:
    void shared(const QString& path);

private:
    struct Choice {
        QCheckBox* check;
        bool Redaction::*flag;
        QString removed;  ///< names what was removed, in the result
    };
    using Outcome = Result<ShareReport>;

    QWidget* make_choices();
    QWidget* make_range();
    QWidget* make_target();
    QWidget* make_preview();
    QLayout* make_buttons();
    ShareRequest request() const;
    void start();
    void cancel();
    void show_outcome(const Outcome& outcome);
    void preview();
    void show_preview(const Outcome& outcome);
    void show_busy(bool busy);
    void show_choices();
    void show_status(const QString& sentence, bool problem);
    QString removed_text(const Redaction& redaction) const;

    ShareInput input_;
    QString target_;  ///< of the running or last job
    ShareRequest request_;
    std::vector<Choice> choices_;
    QWidget* form_;
    QRadioButton* only_range_ = nullptr;  ///< null if nothing is selected
    QCheckBox* with_notes_ = nullptr;
    QLabel* size_;
    QTreeWidget* removed_;
    QLineEdit* output_;
    QLabel* status_;
    QProgressBar* bar_;
    QPushButton *share_, *cancel_;
    QTimer poll_;
    QTimer delay_;  ///< before the next preview
    LatestOnly<Outcome> job_, preview_;
};

}  // namespace tidemark::gui
