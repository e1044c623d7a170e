// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// Wrapped text that changes with the cursor. A QLabel lays the whole window out again at each new text, and measures it
// several times; this one does if the text needs more or fewer lines.
#pragma once

#include <QLabel>

namespace tidemark::gui {

class SteadyText : public QWidget {
    Q_OBJECT
public:
    explicit SteadyText(const QString& name, Qt::TextFormat format, QWidget* parent = nullptr);

    void show_text(const QString& text);
    QString text() const { return label_->text(); }
    int heightForWidth(int width) const override;
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

protected:
    void resizeEvent(QResizeEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    void measure_again();

    QLabel* label_;  ///< in no layout, which would hear of each text
    mutable int known_width_ = -1, known_height_ = 0;
};

}  // namespace tidemark::gui
