// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The severity of a finding at a glance: as a shape, a color and a word, so that each can be understood without the
// others.
#pragma once

#include <QWidget>

#include "gui/model/palette.h"
#include "storage/explain/finding.h"

class QPainter;

namespace tidemark::gui {

QString severity_help(Severity severity);  ///< one sentence
QColor severity_color(const Theme& theme, Severity severity);
/// Paints the shape of a severity into `box`.
void paint_severity(QPainter& painter, const QRectF& box, const Theme& theme, Severity severity);

/// Shows the shape and the word.
class SeverityMark : public QWidget {
    Q_OBJECT
public:
    /// `word`: "Leak", in the language of the findings.
    SeverityMark(Severity severity, const QString& word, QWidget* parent = nullptr);
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override { return sizeHint(); }

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    Severity severity_;
    QString word_;
};

}  // namespace tidemark::gui
