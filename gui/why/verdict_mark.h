// What a person should make of a finding, at a glance: a shape, a colour and a word, so that none is needed alone.
#pragma once

#include <QWidget>

#include "gui/model/palette.h"
#include "storage/explain/finding.h"

class QPainter;

namespace tidemark::gui {

QString verdict_help(Verdict verdict);  ///< one sentence
QColor verdict_color(const Theme& theme, Verdict verdict);
/// The shape of a verdict, filling `box`.
void paint_verdict(QPainter& painter, const QRectF& box, const Theme& theme, Verdict verdict);

/// The shape and the word.
class VerdictMark : public QWidget {
    Q_OBJECT
public:
    /// `word`: "Leak", in the language of the findings.
    VerdictMark(Verdict verdict, const QString& word, QWidget* parent = nullptr);
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override { return sizeHint(); }

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    Verdict verdict_;
    QString word_;
};

}  // namespace tidemark::gui
