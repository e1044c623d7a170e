// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The pages without a trace: the start page, and the page while a file is opened.
#pragma once

#include <QWidget>

class QLabel;
class QProgressBar;
class QVBoxLayout;

namespace tidemark::gui {

class Settings;

/// Recent files with their summaries, examples, and how to get something to open.
class StartPage : public QWidget {
    Q_OBJECT
public:
    explicit StartPage(QWidget* parent = nullptr);
    /// Shows the recent files of the settings; files that no longer exist as missing.
    void show_recent_files(const Settings& settings);
    /// Shows whether a file that is dragged over the window would be opened.
    void set_drop_target(bool on);

signals:
    void open_requested();
    void record_requested();
    void file_selected(const QString& path);
    void removal_requested(const QString& path);  ///< from the list of recent files

private:
    QWidget* make_buttons();
    QWidget* make_examples();
    QWidget* make_snippets();

    QWidget* drop_zone_;
    QWidget* recent_ = nullptr;  ///< made again whenever the list changes
    QVBoxLayout* left_;
};

class LoadingPage : public QWidget {
    Q_OBJECT
public:
    explicit LoadingPage(QWidget* parent = nullptr);
    void start(const QString& file);
    void show_progress(const QString& phase, double fraction);

signals:
    void cancel_requested();

private:
    QLabel* file_;
    QLabel* phase_;
    QProgressBar* bar_;
};

/// One sentence at the top until it is closed: errors and notes for the user.
class MessageBar : public QWidget {
    Q_OBJECT
public:
    explicit MessageBar(QWidget* parent = nullptr);
    void show_message(const QString& sentence, bool problem);
    QString text() const;

private:
    QLabel* icon_;
    QLabel* text_;
};

}  // namespace tidemark::gui
