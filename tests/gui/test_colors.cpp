// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The colors of both themes: contrast of text and shapes as WCAG 2 measures it, and distances with color blindness.
#include <QApplication>
#include <QLineEdit>
#include <QMenu>
#include <QPalette>
#include <QSpinBox>
#include <QTest>
#include <QTextDocument>
#include <QToolButton>
#include <array>
#include <cmath>
#include <tuple>

#include "gui/app/appearance.h"
#include "gui/model/palette.h"
#include "gui/source/code_colors.h"
#include "gui/sql/sql_highlighter.h"
#include "gui/widgets/severity_mark.h"
#include "storage/report/html_colors.h"

using namespace tidemark;
using namespace tidemark::gui;

namespace {

constexpr double text_contrast = 4.5, shape_contrast = 3;

using Vector = std::array<double, 3>;
using Matrix = std::array<Vector, 3>;

Vector operator*(const Matrix& m, const Vector& v) {
    Vector result{};
    for (size_t i = 0; i < 3; ++i) {
        result[i] = m[i][0] * v[0] + m[i][1] * v[1] + m[i][2] * v[2];
    }
    return result;
}

/// How a full color blindness changes linear RGB, after Machado, Oliveira and Fernandes (2009).
constexpr Matrix normal = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
constexpr Matrix protanopia = {
    {{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}}};
constexpr Matrix deuteranopia = {
    {{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}}};

Vector linear(const QColor& color) {
    const auto channel = [](double c) { return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4); };
    return {channel(color.redF()), channel(color.greenF()), channel(color.blueF())};
}

double contrast(const QColor& a, const QColor& b) {
    const auto luminance = [](const QColor& color) {
        const Vector rgb = linear(color);
        return 0.2126 * rgb[0] + 0.7152 * rgb[1] + 0.0722 * rgb[2];
    };
    const double x = luminance(a), y = luminance(b);
    return (std::max(x, y) + 0.05) / (std::min(x, y) + 0.05);
}

Vector oklab(const Vector& rgb) {
    constexpr Matrix to_cones = {{{0.4122214708, 0.5363325363, 0.0514459929},
                                  {0.2119034982, 0.6806995451, 0.1073969566},
                                  {0.0883024619, 0.2817188376, 0.6299787005}}};
    constexpr Matrix to_lab = {{{0.2104542553, 0.7936177850, -0.0040720468},
                                {1.9779984951, -2.4285922050, 0.4505937099},
                                {0.0259040371, 0.7827717662, -0.8086757660}}};
    Vector cones = to_cones * rgb;
    for (double& cone : cones) {
        cone = std::cbrt(std::max(cone, 0.0));
    }
    return to_lab * cones;
}

double distance(const QColor& a, const QColor& b, const Matrix& eye) {
    const auto seen = [&eye](const QColor& color) {
        Vector rgb = eye * linear(color);
        for (double& channel : rgb) {
            channel = std::clamp(channel, 0.0, 1.0);
        }
        return oklab(rgb);
    };
    const Vector x = seen(a), y = seen(b);
    return std::hypot(x[0] - y[0], x[1] - y[1], x[2] - y[2]);
}

struct Named {
    QString name;
    QColor color;
};

std::vector<Named> category_colors(const Theme& theme) {
    std::vector<Named> all;
    for (int c = 0; c < category_count; ++c) {
        all.push_back({QStringLiteral("category %1").arg(c), category_color(theme, static_cast<Category>(c))});
    }
    return all;
}

Named component_named(const Theme& theme, ComponentKind kind) {
    return {QStringLiteral("component %1").arg(static_cast<int>(kind)), component_color(theme, kind, 0)};
}

std::vector<Named> component_colors(const Theme& theme) {
    std::vector<Named> all;
    for (int kind = 0; kind <= static_cast<int>(ComponentKind::unknown); ++kind) {
        all.push_back(component_named(theme, static_cast<ComponentKind>(kind)));
    }
    return all;
}

std::vector<Named> group_colors(const Theme& theme) {
    constexpr int count = 10;
    std::vector<Named> all;
    for (int g = 0; g < count; ++g) {
        all.push_back({QStringLiteral("group %1").arg(g), group_color(theme, g, count)});
    }
    return all;
}

/// Returns the colors of shapes whose inside carries the meaning, and on which text may stand.
std::vector<Named> fills(const Theme& theme) {
    std::vector<Named> all = category_colors(theme);
    for (const auto& more : {component_colors(theme), group_colors(theme)}) {
        all.insert(all.end(), more.begin(), more.end());
    }
    for (int kind = 0; kind <= static_cast<int>(ComponentKind::unknown); ++kind) {
        for (int nth = 1; nth < 4; ++nth) {
            all.push_back({QStringLiteral("component %1, shade %2").arg(kind).arg(nth),
                           component_color(theme, static_cast<ComponentKind>(kind), nth)});
        }
    }
    for (int g = 0; g < 30; ++g) {
        all.push_back({QStringLiteral("group %1 of 31").arg(g), group_color(theme, g, 31)});
    }
    for (uint32_t id = 0; id < 300; ++id) {
        all.push_back({QStringLiteral("id %1").arg(id), id_color(theme, id)});
    }
    for (int i = 0; i <= 20; ++i) {
        all.push_back({QStringLiteral("scale %1").arg(i / 20.0), scale_color(theme, i / 20.0)});
    }
    for (const NodeState state : {NodeState::never_executed, NodeState::executed, NodeState::released}) {
        all.push_back({QStringLiteral("node state %1").arg(static_cast<int>(state)), node_state_color(theme, state)});
    }
    return all;
}

std::vector<Named> severity_colors(const Theme& theme) {
    std::vector<Named> all;
    for (const Severity severity :
         {Severity::leak, Severity::failure, Severity::waste, Severity::pattern, Severity::background}) {
        all.push_back({QStringLiteral("severity %1").arg(static_cast<int>(severity)), severity_color(theme, severity)});
    }
    return all;
}

/// Returns the lines and marks of plots, and the ring of the focus.
std::vector<Named> marks(const Theme& theme) {
    std::vector<Named> all = severity_colors(theme);
    for (const auto& [name, color] :
         std::initializer_list<std::pair<const char*, QColor>>{{"allocated", theme.allocated_line},
                                                               {"active", theme.active_line},
                                                               {"reserved", theme.reserved_line},
                                                               {"requested", theme.requested_line},
                                                               {"selection", theme.selection},
                                                               {"cursor", theme.cursor},
                                                               {"focus", theme.focus},
                                                               {"oom", theme.oom},
                                                               {"pending", theme.pending},
                                                               {"rounding", theme.rounding},
                                                               {"unknown", theme.unknown}}) {
        all.push_back({QString::fromLatin1(name), color});
    }
    return all;
}

void require_contrast(const Named& shape, const Named& neighbor, double least) {
    const double measured = contrast(shape.color, neighbor.color);
    QVERIFY2(measured >= least,
             qPrintable(QStringLiteral("%1 %2 on %3 %4: %5")
                            .arg(shape.name, shape.color.name(), neighbor.name, neighbor.color.name())
                            .arg(measured)));
}

/// Distances in OKLab, where about 0.02 is the smallest visible difference of large areas side by side. Areas of a few
/// pixels, and those that are not side by side, need several times as much.
struct Least {
    double normal, color_blind;
};

void require_distance(const Named& a, const Named& b, Least least) {
    for (const auto& [eye, name, wanted] :
         {std::tuple(normal, "normal", least.normal), std::tuple(protanopia, "protanopia", least.color_blind),
          std::tuple(deuteranopia, "deuteranopia", least.color_blind)}) {
        const double measured = distance(a.color, b.color, eye);
        QVERIFY2(measured >= wanted,
                 qPrintable(QStringLiteral("%1 %2 and %3 %4, %5: %6")
                                .arg(a.name, a.color.name(), b.name, b.color.name(), QLatin1String(name))
                                .arg(measured)));
    }
}

/// Returns whether both are unknown or cached: one gray may be like the other, because unknown is hatched, too.
bool are_both_grays(const Named& a, const Named& b) {
    constexpr double most_chroma = 0.02;
    const auto is_gray = [](const QColor& color) {
        const Vector lab = oklab(linear(color));
        return std::hypot(lab[1], lab[2]) < most_chroma;
    };
    return is_gray(a.color) && is_gray(b.color);
}

}  // namespace

class TestColors : public QObject {
    Q_OBJECT
private slots:
    void text_has_contrast_to_every_background_of_a_theme() {
        for (const ThemeSetting setting : {ThemeSetting::light, ThemeSetting::dark}) {
            const Theme theme = set_theme(setting);
            std::vector<Named> texts = {
                {QStringLiteral("text"), theme.text},
                {QStringLiteral("faint text"), theme.faint_text},
                {QStringLiteral("link"), QApplication::palette().color(QPalette::Link)},
                {QStringLiteral("bright"), QApplication::palette().color(QPalette::BrightText)}};
            for (const Named& severity : severity_colors(theme)) {
                texts.push_back(severity);
            }
            for (const Named& text : texts) {
                for (const Named& background : backgrounds()) {
                    require_contrast(text, background, text_contrast);
                }
            }
            for (const auto& [text, background] :
                 {std::pair(QPalette::HighlightedText, QPalette::Highlight),
                  std::pair(QPalette::ButtonText, QPalette::Button), std::pair(QPalette::Text, QPalette::Base),
                  std::pair(QPalette::PlaceholderText, QPalette::Base),
                  std::pair(QPalette::ToolTipText, QPalette::ToolTipBase)}) {
                require_contrast(of_palette(text), of_palette(background), text_contrast);
            }
        }
    }

    void code_has_contrast_to_the_background_of_tables_and_editors() {
        for (const ThemeSetting setting : {ThemeSetting::light, ThemeSetting::dark}) {
            const Theme theme = set_theme(setting);
            std::vector<Named> texts;
            for (const CodePart part : {CodePart::keyword, CodePart::text, CodePart::comment, CodePart::number}) {
                texts.push_back({QStringLiteral("code %1").arg(static_cast<int>(part)), code_color(theme, part)});
            }
            QTextDocument document(QStringLiteral("SELECT 'text', 12 FROM allocation -- comment"));
            SqlHighlighter highlighter(&document);
            highlighter.rehighlight();
            for (const auto& format : document.firstBlock().layout()->formats()) {
                texts.push_back({QStringLiteral("SQL at %1").arg(format.start), format.format.foreground().color()});
            }
            QVERIFY(texts.size() >= 8);
            for (const Named& text : texts) {
                for (const QPalette::ColorRole role : {QPalette::Base, QPalette::AlternateBase}) {
                    require_contrast(text, of_palette(role), text_contrast);
                }
            }
        }
    }

    void fields_have_a_frame_that_is_seen() {
        const Theme theme = set_theme(ThemeSetting::dark);
        QLineEdit line;
        QSpinBox number;
        for (QWidget* field : {static_cast<QWidget*>(&line), static_cast<QWidget*>(&number)}) {
            field->resize(120, 24);
            const QColor edge = field->grab().toImage().pixelColor(60, 0);
            require_contrast({QStringLiteral("frame"), edge}, {QStringLiteral("window"), theme.background},
                             shape_contrast);
        }
    }

    void the_arrow_of_a_menu_is_beside_the_text() {
        set_theme(ThemeSetting::light);
        const auto width_with = [](QMenu* menu) {
            QToolButton button;
            button.setAutoRaise(true);
            button.setText(QStringLiteral("Filter"));
            button.setMenu(menu);
            button.setPopupMode(QToolButton::InstantPopup);
            button.resize(button.sizeHint());
            const QImage image = button.grab().toImage();
            int lowest = 0;  // painted row of the right edge
            for (int y = 0; y < image.height(); ++y) {
                for (int x = image.width() - 10; x < image.width(); ++x) {
                    lowest = image.pixel(x, y) != image.pixel(0, 0) ? y : lowest;
                }
            }
            return std::pair(image.width(), lowest);
        };
        QMenu menu;
        const auto [width, lowest] = width_with(&menu);
        QVERIFY(width >= width_with(nullptr).first + 10);
        QVERIFY2(lowest > 6 && lowest < 17, qPrintable(QString::number(lowest)));
    }

    void shapes_have_contrast_to_both_backgrounds_and_text_to_shapes() {
        for (const ThemeSetting setting : {ThemeSetting::light, ThemeSetting::dark}) {
            const Theme theme = set_theme(setting);
            std::vector<Named> shapes = fills(theme);
            for (const Named& shape : shapes) {
                require_contrast({QStringLiteral("text"), text_color_on(shape.color)}, shape, text_contrast);
            }
            require_contrast({QStringLiteral("text"), text_color_on(theme.selection)},
                             {QStringLiteral("selection"), theme.selection}, text_contrast);
            for (const Named& mark : marks(theme)) {
                shapes.push_back(mark);
            }
            shapes.push_back(of_palette(QPalette::Highlight));
            shapes.push_back(of_palette(QPalette::PlaceholderText));  // the frame of check boxes
            for (const Named& shape : shapes) {
                require_contrast(shape, {QStringLiteral("window"), theme.background}, shape_contrast);
                require_contrast(shape, {QStringLiteral("plot"), theme.plot_background}, shape_contrast);
            }
        }
    }

    void colors_differ_also_with_color_blindness() {
        for (const Theme& theme : {Theme::light(), Theme::dark_theme()}) {
            const std::vector<Named> categories = category_colors(theme), components = component_colors(theme);
            for (const auto& [colors, least] :
                 {std::pair(categories, Least{0.1, 0.07}), std::pair(group_colors(theme), Least{0.1, 0.07}),
                  std::pair(components, Least{0.095, 0.055})}) {
                for (size_t a = 0; a < colors.size(); ++a) {
                    for (size_t b = a + 1; b < colors.size(); ++b) {
                        if (!are_both_grays(colors[a], colors[b])) {
                            require_distance(colors[a], colors[b], least);
                        }
                    }
                }
            }
            for (const Named& category : categories) {
                for (const Named& component : components) {
                    if (!are_both_grays(category, component)) {
                        require_distance(category, component, {0.065, 0.043});
                    }
                }
            }
        }
    }

    /// The first picture stacks what is outside the allocator on the categories, and names are beside it only at times.
    void memory_outside_the_allocator_does_not_look_like_a_category() {
        for (const Theme& theme : {Theme::light(), Theme::dark_theme()}) {
            for (const ComponentKind kind :
                 {ComponentKind::driver_pools, ComponentKind::library, ComponentKind::context, ComponentKind::kernels,
                  ComponentKind::other_processes}) {
                for (const Named& category : category_colors(theme)) {
                    require_distance(component_named(theme, kind), category, {0.105, 0.055});
                }
            }
        }
    }

    void libraries_and_processes_side_by_side_differ() {
        for (const Theme& theme : {Theme::light(), Theme::dark_theme()}) {
            for (const ComponentKind kind : {ComponentKind::library, ComponentKind::other_processes}) {
                for (int nth = 0; nth < 6; ++nth) {
                    require_distance({QStringLiteral("shade %1").arg(nth), component_color(theme, kind, nth)},
                                     {QStringLiteral("the next"), component_color(theme, kind, nth + 1)}, {0.08, 0.08});
                }
            }
        }
    }

    /// The line of nvidia-smi lies on the highest band, which would look like a part of it.
    void the_highest_band_does_not_look_like_the_line_on_it() {
        for (const Theme& theme : {Theme::light(), Theme::dark_theme()}) {
            const Named line{QStringLiteral("nvidia-smi"), theme.allocated_line};
            for (const ComponentKind kind : {ComponentKind::driver_pools, ComponentKind::context,
                                             ComponentKind::kernels, ComponentKind::other_processes}) {
                require_distance(component_named(theme, kind), line, {0.12, 0.09});
            }
        }
    }

    /// A library's band lies on the line of reserved memory.
    void a_library_does_not_look_like_the_line_of_reserved_memory() {
        for (const Theme& theme : {Theme::light(), Theme::dark_theme()}) {
            require_distance(component_named(theme, ComponentKind::library),
                             {QStringLiteral("reserved"), theme.reserved_line}, {0.11, 0.1});
        }
    }

    /// Other processes are on top, under the line of nvidia-smi.
    void no_process_looks_like_the_line_of_nvidia_smi() {
        for (const Theme& theme : {Theme::light(), Theme::dark_theme()}) {
            for (int nth = 0; nth < 4; ++nth) {
                require_distance({QStringLiteral("process %1").arg(nth),
                                  component_color(theme, ComponentKind::other_processes, nth)},
                                 {QStringLiteral("nvidia-smi"), theme.allocated_line}, {0.12, 0.09});
            }
        }
    }

    /// The measures themselves, at values that are published.
    void lines_over_time_have_the_colors_of_reports() {
        for (const Theme& theme : {Theme::light(), Theme::dark_theme()}) {
            const auto reported = [&](Series series) {
                const KeyColor key = series_key(series);
                return QColor::fromRgb(theme.dark ? key.dark : key.light);
            };
            QCOMPARE(theme.allocated_line, reported(Series::allocated));
            QCOMPARE(theme.active_line, reported(Series::active));
            QCOMPARE(theme.requested_line, reported(Series::requested));
            QCOMPARE(theme.reserved_line, reported(Series::reserved));
        }
    }

    void the_measures_are_right() {
        QVERIFY(std::abs(contrast(Qt::white, Qt::black) - 21) < 0.01);
        QVERIFY(std::abs(contrast(QColor(0x76, 0x76, 0x76), Qt::white) - 4.54) < 0.01);
        const QColor red(0xb0, 0x50, 0x30), green(0x70, 0x78, 0x30);
        QVERIFY(distance(red, green, normal) > 2 * distance(red, green, deuteranopia));
    }

private:
    static Theme set_theme(ThemeSetting setting) {
        apply_theme(setting);
        return Theme::current();
    }

    static Named of_palette(QPalette::ColorRole role) {
        return {QStringLiteral("palette %1").arg(static_cast<int>(role)), QApplication::palette().color(role)};
    }

    static std::vector<Named> backgrounds() {
        std::vector<Named> all;
        for (const QPalette::ColorRole role :
             {QPalette::Window, QPalette::Base, QPalette::AlternateBase, QPalette::Button, QPalette::ToolTipBase}) {
            all.push_back(of_palette(role));
        }
        return all;
    }
};

QTEST_MAIN(TestColors)
#include "test_colors.moc"
