// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// A task done in a window as a user does it: with mouse and keyboard only. Each action is counted, and is a picture if
// the environment variable TIDEMARK_FILM names a folder for them.
#pragma once

#include <QApplication>
#include <QDir>
#include <QElapsedTimer>
#include <QPainter>
#include <QTest>
#include <QTextBlock>
#include <QWidget>
#include <optional>

#include "gui/model/worker_threads.h"
#include "gui/widgets/text_block.h"

namespace tidemark::gui::test {

class Film {
public:
    /// `window` is on the screen and outlives the film.
    Film(QWidget& window, QString task) : window_(window), task_(std::move(task)) { shoot(); }

    /// Clicks a widget of the window or of a dialog, in its middle or at a point of it.
    void click(QWidget* widget, std::optional<QPoint> at = {}) {
        QVERIFY2(widget != nullptr && widget->isVisible(), "a user sees what is clicked");
        const QPoint point = at.value_or(widget->rect().center());
        clicked_ = widget->mapToGlobal(point) - window_.mapToGlobal(QPoint(0, 0));
        QTest::mouseClick(widget, Qt::LeftButton, {}, point);
        ++clicks_;
        shoot();
    }
    /// Clicks the link with this text, in its middle.
    void click_link(TextBlock& block, const QString& text) {
        constexpr int step = 3;  // pixels
        QRect link;
        for (int y = 0; y < block.viewport()->height(); y += step) {
            for (int x = 0; x < block.viewport()->width(); x += step) {
                const QTextCursor under = block.cursorForPosition({x, y});
                if (!block.anchorAt({x, y}).isEmpty() && under.block().text().contains(text)) {
                    link |= QRect(x, y, 1, 1);
                }
            }
        }
        QVERIFY2(!link.isEmpty(), "the text has no such link");
        click(block.viewport(), link.center());
    }
    /// Presses a key of the window.
    void press(Qt::Key key) {
        // Again and again, because a window that closes late takes the activation away; without it keys do nothing.
        QTRY_VERIFY((window_.activateWindow(), window_.isActiveWindow()));
        QTest::keyClick(&window_, key);
        ++keys_;
        shoot();
    }
    /// Enters a text, which counts as one key.
    void type(QWidget& widget, const QString& text) {
        QTest::keyClicks(&widget, text);
        ++keys_;
        shoot();
    }
    /// Takes one more picture, of what came later.
    void shoot() {
        settle();
        const QString folder = qEnvironmentVariable("TIDEMARK_FILM");
        if (!folder.isEmpty()) {
            if (const QImage shot = picture().toImage(); shot != last_) {
                with_ring(shot).save(QDir(folder).filePath(QStringLiteral("%1_%2.png").arg(task_).arg(++shots_)));
                last_ = shot;
            }
        }
        clicked_.reset();
    }

    int clicks() const { return clicks_; }
    int keys() const { return keys_; }

private:
    /// Waits until nothing is computed for a moment.
    static void settle() {
        constexpr int quiet_checks = 16, pause = 25, longest_wait = 20000;  // milliseconds
        QElapsedTimer clock;
        clock.start();
        for (int quiet = 0; quiet < quiet_checks && clock.elapsed() < longest_wait;) {
            QTest::qWait(pause);
            const bool idle = worker_threads()->activeThreadCount() == 0 && picture_threads()->activeThreadCount() == 0;
            quiet = idle ? quiet + 1 : 0;
        }
    }
    /// Returns the window with its dialogs and menus above it.
    QPixmap picture() const {
        QPixmap picture = window_.grab();
        QPainter painter(&picture);
        for (const QWidget* other : QApplication::topLevelWidgets()) {
            if (other != &window_ && other->isVisible() && other->width() > 20) {
                const QPoint at = other->mapToGlobal(QPoint(0, 0)) - window_.mapToGlobal(QPoint(0, 0));
                painter.drawPixmap(at, const_cast<QWidget*>(other)->grab());
                painter.setPen(QPen(QColor(0x70, 0x70, 0x70), 1));
                painter.drawRect(QRect(at, other->size()));
            }
        }
        return picture;
    }
    QImage with_ring(QImage shot) const {
        if (clicked_) {
            QPainter painter(&shot);
            painter.setRenderHint(QPainter::Antialiasing);
            painter.setPen(QPen(QColor(0xd8, 0x1b, 0x7a), 3));
            painter.drawEllipse(*clicked_, 11, 11);
        }
        return shot;
    }

    QWidget& window_;
    QString task_;
    int clicks_ = 0, keys_ = 0, shots_ = 0;
    QImage last_;                    ///< nothing is drawn twice
    std::optional<QPoint> clicked_;  ///< by the last action, in the window
};

}  // namespace tidemark::gui::test
