// Text as high as it is long: breaks anywhere rather than being cut, its links work with mouse and keyboard, and the
// wheel scrolls what it lies in.
#pragma once

#include <QTextBrowser>

namespace tidemark::gui {

/// Text of a finding as rich text: escaped, with `what stands between backticks` as code.
QString rich_text(const QString& text);

class TextBlock : public QTextBrowser {
    Q_OBJECT
public:
    /// `name` is what a screen reader calls it.
    explicit TextBlock(const QString& name, QWidget* parent = nullptr);
    /// With links it is on the way of the Tab key. Colours of the theme are in `html`, so a new theme needs a new one.
    void show_html(const QString& html);
    /// Clicks go to what it lies in.
    void let_clicks_through();

    int heightForWidth(int width) const override;
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

protected:
    void wheelEvent(QWheelEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    mutable int known_width_ = -1, known_height_ = 0;
};

}  // namespace tidemark::gui
