// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// File > Record…: the program and the parts to record; then its progress and its traces.
#pragma once

#include <QDialog>
#include <map>
#include <memory>
#include <optional>

#include "gui/app/recording.h"

class QCheckBox;
class QLabel;
class QLineEdit;
class QListWidget;
class QPlainTextEdit;
class QPushButton;

namespace tidemark::gui {

class Settings;

/// Stays open beside the recorded trace. Closing it during a run only hides it. Saves the last input in the settings.
class RecordDialog : public QDialog {
    Q_OBJECT
public:
    RecordDialog(Settings& settings, const TidemarkCommand& tidemark, QWidget* parent = nullptr);

    /// Returns whether there is a command that can record.
    bool can_record() const { return !tidemark_.isEmpty(); }
    /// Null before Start.
    Recording* recording() const { return recording_.get(); }
    QString status_text() const;

signals:
    void open_requested(const QString& trace);

private:
    QWidget* make_form();
    QWidget* make_parts();
    QWidget* make_progress();
    void check_parts();
    void show_parts(const std::vector<RecordPart>& parts);
    void show_driver(const RecordPart& cupti);
    void start();
    std::optional<RecordRequest> read_request();
    void remember(const RecordRequest& request);
    void propose_output();
    void ask_to_end();
    void show_state();
    void show_processes();
    void show_status(const QString& sentence, bool problem);

    Settings& settings_;
    QString tidemark_;
    std::unique_ptr<Recording> recording_;
    bool term_sent_ = false, first_opened_ = false;
    QString ended_;
    QLineEdit *command_, *folder_, *output_;
    std::map<QString, std::pair<QCheckBox*, QLabel*>> parts_;
    QLabel* parts_note_;
    QWidget* form_;
    QLabel* status_;
    QListWidget* traces_;
    QPlainTextEdit* log_;
    QPushButton *start_, *stop_, *end_;
};

}  // namespace tidemark::gui
