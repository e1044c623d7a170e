// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The pages without a trace: the start page, and the page while a file is opened.
#pragma once

#include <QWidget>

class QLabel;
class QListWidget;
class QProgressBar;

namespace tidemark::gui {

class StartPage : public QWidget {
    Q_OBJECT
public:
    explicit StartPage(QWidget* parent = nullptr);
    void set_recent_files(const QStringList& files);

signals:
    void open_requested();
    void record_requested();
    void file_selected(const QString& path);

private:
    QLabel* recent_title_;
    QListWidget* recent_;
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
