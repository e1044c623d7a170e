// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/app/appearance.h"

#include <QApplication>
#include <QLibraryInfo>
#include <QLineEdit>
#include <QLocale>
#include <QPainter>
#include <QPalette>
#include <QProxyStyle>
#include <QStyleOption>
#include <QTextLayout>
#include <QtMath>
#include <algorithm>
#include <cstring>

#include "gui/model/palette.h"

namespace tidemark::gui {

namespace {

/// lupdate omits nested namespaces from context names; Qt asks with the whole class name.
class Translator : public QTranslator {
public:
    QString translate(const char* context, const char* text, const char* comment, int n) const override {
        const QString found = QTranslator::translate(context, text, comment, n);
        const char* last = std::strrchr(context, ':');
        return found.isNull() && last != nullptr ? QTranslator::translate(last + 1, text, comment, n) : found;
    }
};

/// Fusion with a visible frame around check boxes and fields, which Fusion paints darker than a dark background, and
/// with a focus frame above the widget: most widgets fill their place. Fields have their text in the middle.
class Style : public QProxyStyle {
public:
    Style() : QProxyStyle(QStringLiteral("Fusion")) { setObjectName(QStringLiteral("tidemark")); }
    int styleHint(StyleHint hint, const QStyleOption* option, const QWidget* widget,
                  QStyleHintReturn* answer) const override {
        return hint == SH_FocusFrame_AboveWidget ? 1 : QProxyStyle::styleHint(hint, option, widget, answer);
    }
    void drawPrimitive(PrimitiveElement element, const QStyleOption* option, QPainter* painter,
                       const QWidget* widget) const override {
        QProxyStyle::drawPrimitive(element, option, painter, widget);
        if (element == PE_IndicatorCheckBox || (element == PE_FrameLineEdit && Theme::current().dark)) {
            paint_frame(*option, *painter);
        }
    }
    void drawComplexControl(ComplexControl control, const QStyleOptionComplex* option, QPainter* painter,
                            const QWidget* widget) const override {
        const auto* button = qstyleoption_cast<const QStyleOptionToolButton*>(option);
        if (control == CC_ToolButton && button != nullptr && is_menu(*button)) {
            draw_menu_button(*button, painter, widget);
            return;
        }
        QProxyStyle::drawComplexControl(control, option, painter, widget);
        if (control == CC_SpinBox && Theme::current().dark) {
            paint_frame(*option, *painter);
        }
    }
    QRect subElementRect(SubElement element, const QStyleOption* option, const QWidget* widget) const override {
        const QRect place = QProxyStyle::subElementRect(element, option, widget);
        const auto* field = qobject_cast<const QLineEdit*>(widget);
        return element == SE_LineEditContents && field != nullptr ? place.translated(0, way_to_middle(*field)) : place;
    }
    QSize sizeFromContents(ContentsType type, const QStyleOption* option, const QSize& size,
                           const QWidget* widget) const override {
        const QSize all = QProxyStyle::sizeFromContents(type, option, size, widget);
        const auto* button = qstyleoption_cast<const QStyleOptionToolButton*>(option);
        return type == CT_ToolButton && button != nullptr && is_menu(*button)
                   ? all + QSize(2 * (arrow_side + arrow_gap), 0)
                   : all;
    }

private:
    static constexpr int arrow_side = 7, arrow_gap = 2;  // pixels

    /// Returns by how much the text of a field is too high: Qt places it as if it were in the field's own font, but
    /// letters of other fonts have another ascent, as Chinese ones. Qt centers the hint in an empty field.
    static int way_to_middle(const QLineEdit& field) {
        QTextLayout layout(field.displayText(), field.font());
        layout.beginLayout();
        const QTextLine line = layout.createLine();
        layout.endLayout();
        const QFontMetricsF own(field.font());
        const double of_own = own.ascent() - own.descent();
        return line.isValid() ? qCeil(std::max((line.ascent() - line.descent() - of_own) / 2, 0.0)) : 0;
    }
    /// Returns whether a click anywhere on the button opens its menu.
    static bool is_menu(const QStyleOptionToolButton& button) {
        return button.features & QStyleOptionToolButton::HasMenu &&
               !(button.features & QStyleOptionToolButton::MenuButtonPopup);
    }
    /// Fusion draws the arrow so small below the text that it looks like a comma.
    void draw_menu_button(const QStyleOptionToolButton& button, QPainter* painter, const QWidget* widget) const {
        QStyleOptionToolButton plain = button;
        plain.features &= ~QStyleOptionToolButton::HasMenu;
        QProxyStyle::drawComplexControl(CC_ToolButton, &plain, painter, widget);
        QStyleOption arrow = button;
        arrow.rect = QRect(button.rect.right() - arrow_side - arrow_gap, button.rect.center().y() - arrow_side / 2 + 1,
                           arrow_side, arrow_side);
        drawPrimitive(PE_IndicatorArrowDown, &arrow, painter, widget);
    }
    static void paint_frame(const QStyleOption& option, QPainter& painter) {
        const bool has_focus = option.state & State_HasFocus;
        painter.setPen(option.palette.color(has_focus ? QPalette::Link : QPalette::PlaceholderText));
        painter.setBrush(Qt::NoBrush);
        painter.drawRect(option.rect.adjusted(0, 0, -1, -1));
    }
};

bool system_is_dark() {
    static const bool dark = [] {
        const QPalette palette = QApplication::palette();
        return palette.color(QPalette::Window).lightness() < palette.color(QPalette::WindowText).lightness();
    }();
    return dark;
}

QPalette palette_of(const Theme& theme) {
    QPalette p;
    const QColor button = theme.dark ? theme.background.lighter(140) : QColor(0xec, 0xee, 0xf1);
    const QColor highlight = theme.dark ? QColor(0x2f, 0x6f, 0xb3) : QColor(0x1f, 0x6f, 0xc4);
    p.setColor(QPalette::Window, theme.background);
    p.setColor(QPalette::WindowText, theme.text);
    p.setColor(QPalette::Base, theme.plot_background);
    p.setColor(QPalette::AlternateBase, theme.dark ? QColor(0x1a, 0x1e, 0x24) : QColor(0xf6, 0xf8, 0xfa));
    p.setColor(QPalette::Text, theme.text);
    p.setColor(QPalette::Button, button);
    p.setColor(QPalette::ButtonText, theme.text);
    p.setColor(QPalette::BrightText, theme.oom);
    p.setColor(QPalette::ToolTipBase, theme.dark ? QColor(0x2a, 0x30, 0x39) : QColor(0xff, 0xff, 0xff));
    p.setColor(QPalette::ToolTipText, theme.text);
    p.setColor(QPalette::PlaceholderText, theme.faint_text);
    p.setColor(QPalette::Highlight, highlight);
    p.setColor(QPalette::HighlightedText, Qt::white);
    p.setColor(QPalette::Link, theme.focus);
    p.setColor(QPalette::LinkVisited, p.color(QPalette::Link));
    p.setColor(QPalette::Mid, theme.grid.darker(theme.dark ? 90 : 115));
    p.setColor(QPalette::Dark, theme.grid.darker(theme.dark ? 130 : 140));
    p.setColor(QPalette::Light, theme.dark ? theme.grid.lighter(130) : QColor(Qt::white));
    const QColor disabled = theme.dark ? QColor(0x64, 0x6d, 0x79) : QColor(0x9a, 0xa2, 0xac);
    for (const auto role : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText}) {
        p.setColor(QPalette::Disabled, role, disabled);
    }
    return p;
}

}  // namespace

QString theme_name(ThemeSetting choice) {
    return choice == ThemeSetting::system  ? QStringLiteral("system")
           : choice == ThemeSetting::light ? QStringLiteral("light")
                                           : QStringLiteral("dark");
}

bool theme_from_name(const QString& name, ThemeSetting& choice) {
    for (const ThemeSetting c : {ThemeSetting::system, ThemeSetting::light, ThemeSetting::dark}) {
        if (theme_name(c) == name) {
            choice = c;
            return true;
        }
    }
    return false;
}

void apply_theme(ThemeSetting choice) {
    const bool dark = choice == ThemeSetting::dark || (choice == ThemeSetting::system && system_is_dark());
    system_is_dark();
    if (QApplication::style()->objectName() != QLatin1String("tidemark")) {
        QApplication::setStyle(new Style);  // the application takes ownership
    }
    QApplication::setPalette(palette_of(dark ? Theme::dark_theme() : Theme::light()));
}

std::vector<Language> languages() {
    return {{QStringLiteral("en"), QStringLiteral("English")}, {QStringLiteral("zh_CN"), QStringLiteral("简体中文")}};
}

bool LanguageSwitch::install(const QString& code) {
    for (const auto& translator : translators_) {
        QApplication::removeTranslator(translator.get());
    }
    translators_.clear();
    QString wanted = code.isEmpty() ? QLocale::system().name() : code;
    if (wanted.startsWith(QLatin1String("zh")) && !wanted.contains(QLatin1String("TW")) &&
        !wanted.contains(QLatin1String("HK"))) {
        wanted = QStringLiteral("zh_CN");
    }
    const auto all = languages();
    const bool known = wanted.startsWith(QLatin1String("en")) ||
                       std::any_of(all.begin(), all.end(), [&](const Language& l) { return l.code == wanted; });
    current_ = known && !wanted.startsWith(QLatin1String("en")) ? wanted : QStringLiteral("en");
    const QLocale system = QLocale::system(), own(current_);
    QLocale::setDefault(system.language() == own.language() ? system : own);  // dates in the window's language
    const auto load = [this](const QString& file, const QString& folder) {
        auto translator = std::make_unique<Translator>();
        if (!translator->load(file, folder)) {
            return false;
        }
        QApplication::installTranslator(translator.get());
        translators_.push_back(std::move(translator));
        return true;
    };
    if (current_ != QLatin1String("en")) {
        load(QStringLiteral("qtbase_") + current_, QLibraryInfo::path(QLibraryInfo::TranslationsPath));
    }
    // English has translations too: the plural forms.
    return load(QStringLiteral("tidemark_") + current_, QStringLiteral(":/i18n")) && (known || code.isEmpty());
}

}  // namespace tidemark::gui
