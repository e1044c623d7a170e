// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// No text of the window is cut off: in small windows, in both languages, in every pane.
#include <QAbstractButton>
#include <QCheckBox>
#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSignalSpy>
#include <QSpinBox>
#include <QStyle>
#include <QStyleOptionComboBox>
#include <QTabBar>
#include <QTemporaryDir>
#include <QTest>
#include <QTextDocumentFragment>
#include <QToolButton>

#include "gui/app/application.h"
#include "gui/app/main_window.h"

using namespace tidemark;
using namespace tidemark::gui;

namespace {

/// Returns the text of a control as it is read, without markup.
QString text_of(const QWidget& widget) {
    if (const auto* label = qobject_cast<const QLabel*>(&widget)) {
        return Qt::mightBeRichText(label->text()) ? QTextDocumentFragment::fromHtml(label->text()).toPlainText()
                                                  : label->text();
    }
    if (const auto* button = qobject_cast<const QAbstractButton*>(&widget)) {
        return button->text();
    }
    const auto* box = qobject_cast<const QComboBox*>(&widget);
    return box != nullptr ? box->currentText() : QString();
}

bool is_cut(const QLabel& label) {
    if (label.wordWrap()) {
        return label.heightForWidth(label.width()) > label.height();
    }
    return label.sizeHint().width() > label.width() || label.sizeHint().height() > label.height();
}

bool is_cut(const QAbstractButton& button) { return button.sizeHint().width() > button.width(); }

bool is_cut(const QComboBox& box) {
    QStyleOptionComboBox option;
    option.initFrom(&box);
    const QRect field = box.style()->subControlRect(QStyle::CC_ComboBox, &option, QStyle::SC_ComboBoxEditField, &box);
    return box.fontMetrics().horizontalAdvance(box.currentText()) > field.width();
}

bool is_cut(const QTabBar& tabs) {
    for (int i = 0; i < tabs.count(); ++i) {
        const QRect tab = tabs.tabRect(i);
        if (tabs.isTabVisible(i) &&
            (tabs.fontMetrics().horizontalAdvance(tabs.tabText(i)) > tab.width() || !tabs.rect().contains(tab))) {
            return true;
        }
    }
    return false;
}

bool is_cut(const QWidget& widget) {
    if (const auto* label = qobject_cast<const QLabel*>(&widget)) {
        return is_cut(*label);
    }
    if (const auto* box = qobject_cast<const QComboBox*>(&widget)) {
        return is_cut(*box);
    }
    if (const auto* tabs = qobject_cast<const QTabBar*>(&widget)) {
        return is_cut(*tabs);
    }
    const bool has_text = qobject_cast<const QPushButton*>(&widget) != nullptr ||
                          qobject_cast<const QToolButton*>(&widget) != nullptr ||
                          qobject_cast<const QCheckBox*>(&widget) != nullptr;
    return has_text && is_cut(static_cast<const QAbstractButton&>(widget));
}

/// Returns the first character that no font of the widget has; 0: there is none.
uint missing_glyph(const QWidget& widget) {
    for (const uint character : text_of(widget).toUcs4()) {
        if (!QChar::isSpace(character) && !widget.fontMetrics().inFontUcs4(character)) {
            return character;
        }
    }
    return 0;
}

/// Returns what is wrong with the texts of a window.
QString faults_of(const QWidget& window) {
    QString faults;
    for (const QWidget* widget : window.findChildren<QWidget*>()) {
        if (!widget->isVisible()) {
            continue;
        }
        if (is_cut(*widget)) {
            faults += QStringLiteral("cut: %1 \"%2\", %3 of %4 pixels\n")
                          .arg(QString::fromLatin1(widget->metaObject()->className()),
                               text_of(*widget).isEmpty() ? widget->accessibleName() : text_of(*widget))
                          .arg(widget->width())
                          .arg(widget->sizeHint().width());
        }
        if (const uint character = missing_glyph(*widget)) {
            faults += QStringLiteral("no glyph: U+%1 in \"%2\"\n").arg(character, 4, 16).arg(text_of(*widget));
        }
    }
    return faults;
}

/// Returns the picture of a widget with one pixel per logical one, at any scale of the screen.
QImage painted(QWidget& widget) {
    QImage image(widget.size(), QImage::Format_RGB32);
    widget.render(&image);
    return image;
}

/// Returns the place of what differs from the background within a part of a picture.
QRect ink_of(const QImage& image, QRect part) {
    QRect ink;
    const QRgb back = image.pixel(part.topLeft());
    for (int y = part.top(); y <= part.bottom(); ++y) {
        for (int x = part.left(); x <= part.right(); ++x) {
            if (std::abs(qGray(image.pixel(x, y)) - qGray(back)) > 60) {
                ink = ink.united(QRect(x, y, 1, 1));
            }
        }
    }
    return ink;
}

}  // namespace

class TestLabels : public QObject {
    Q_OBJECT
private slots:
    /// Fields, too, center text in a font whose ascent is not that of the field's own.
    void text_is_in_the_middle_of_fields() {
        Application application(Settings::Storage::in_memory);
        for (const QString& text : {QStringLiteral("as recorded"), QStringLiteral("与记录相同")}) {
            QSpinBox spin;
            spin.setSpecialValueText(text);
            QLineEdit line(text);
            QComboBox combo;
            combo.addItem(text);
            for (QWidget* field :
                 {static_cast<QWidget*>(&spin), static_cast<QWidget*>(&line), static_cast<QWidget*>(&combo)}) {
                field->resize(200, field->sizeHint().height());
                const QRect ink = ink_of(painted(*field), QRect(8, 2, 120, field->height() - 4));
                const double off = std::abs((ink.top() + ink.bottom()) / 2.0 - (field->height() - 1) / 2.0);
                QVERIFY2(
                    off <= 1,
                    qPrintable(
                        QStringLiteral("%1 \"%2\": %3 pixels").arg(field->metaObject()->className(), text).arg(off)));
            }
        }
    }

    void no_text_is_cut_data() {
        QTest::addColumn<QString>("language");
        QTest::addColumn<QSize>("size");
        for (const QString& language : {QStringLiteral("en"), QStringLiteral("zh_CN")}) {
            for (const QSize size : {QSize(1000, 700), QSize(1280, 800), QSize(1600, 1000)}) {
                QTest::newRow(qPrintable(QStringLiteral("%1 %2x%3").arg(language).arg(size.width()).arg(size.height())))
                    << language << size;
            }
        }
    }

    void no_text_is_cut() {
        QFETCH(const QString, language);
        QFETCH(const QSize, size);
        QTemporaryDir folder;
        const QString trace = folder.filePath(QStringLiteral("run.tide"));
        QVERIFY(QFile::copy(QStringLiteral(TIDEMARK_TEST_DATA "/../../resources/examples/s01_list_of_cpu_outputs.tide"),
                            trace));
        Application application(Settings::Storage::in_memory);
        application.set_language(language);
        MainWindow* window = application.open_window();
        window->resize(size);
        const QString start = faults_of(*window);
        QSignalSpy shown(window, &MainWindow::trace_shown);
        window->open(trace);
        QVERIFY(shown.wait(20000));
        QTRY_VERIFY_WITH_TIMEOUT(window->page().why().has_explanation(), 20000);
        QCOMPARE(window->size(), size);
        QString faults = start;
        for (const auto& [pane, name] : window->page().panes()) {
            window->page().show_pane(*pane);
            QTest::qWait(150);  // its worker fills it
            QString here = faults_of(*window);
            for (int i = 0; i < 20 && !here.isEmpty(); ++i) {  // a new text gets its room in the next layout
                QTest::qWait(100);
                here = faults_of(*window);
            }
            for (const QString& fault : here.split(u'\n', Qt::SkipEmptyParts)) {
                if (!faults.contains(fault)) {
                    faults += QStringLiteral("%1: %2\n").arg(name, fault);
                }
            }
        }
        QVERIFY2(faults.isEmpty(), qPrintable(u'\n' + faults));
    }

    /// The check itself.
    void a_cut_text_is_found() {
        QWidget window;
        auto* label = new QLabel(QStringLiteral("a long text that needs room"), &window);
        label->resize(label->sizeHint());
        window.show();
        QVERIFY(faults_of(window).isEmpty());
        label->resize(label->sizeHint() - QSize(5, 0));
        QVERIFY(faults_of(window).contains(QStringLiteral("cut: QLabel")));
        label->setText(QStringLiteral("\U000fffff"));
        QVERIFY(faults_of(window).contains(QStringLiteral("no glyph")));
    }
};

QTEST_MAIN(TestLabels)
#include "test_labels.moc"
