// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// tidemark-gui [FILE...]: the window. With --render: a picture instead of a window.
#include <unistd.h>
#include <QApplication>
#include <QCommandLineParser>
#include <QIcon>
#include <QTextStream>

#include <csignal>
#include <cstdio>

#include "gui/app/application.h"
#include "gui/app/main_window.h"
#include "gui/app/missing_display.h"
#include "gui/app/own_fonts.h"
#include "gui/app/render.h"
#include "gui/model/file_name.h"
#include "gui/model/text.h"
#include "storage/base/exit_status.h"

namespace {

using namespace tidemark;
using namespace tidemark::gui;

int report(const Status& status) {
    if (status) {
        return 0;
    }
    QTextStream(stderr) << "tidemark-gui: " << error_text(status.error()) << Qt::endl;
    return exit_status(status.error().kind);
}

bool has_argument(int argc, char** argv, const char* name) {
    return std::any_of(argv + 1, argv + argc, [name](const char* a) { return QByteArray(a).startsWith(name); });
}

/// Suppresses Qt's warnings about features that drawing without a display lacks.
void print_message(QtMsgType type, const QMessageLogContext& context, const QString& text) {
    if (!text.contains(QStringLiteral("propagateSizeHints")) && !text.contains(QStringLiteral("XDG_RUNTIME_DIR"))) {
        std::fprintf(stderr, "%s\n", qPrintable(qFormatLogMessage(type, context, text)));
    }
}

bool is_offscreen() { return qgetenv("QT_QPA_PLATFORM") == "offscreen"; }

/// Selects the offscreen platform for pictures and --help.
void select_platform(int argc, char** argv) {
    const bool display = !qEnvironmentVariableIsEmpty("DISPLAY") || !qEnvironmentVariableIsEmpty("WAYLAND_DISPLAY");
    const bool picture = has_argument(argc, argv, "--render");
    const bool answer = has_argument(argc, argv, "--help") || has_argument(argc, argv, "--version");
    if (qEnvironmentVariableIsEmpty("QT_QPA_PLATFORM") && (picture || (answer && !display))) {
        qputenv("QT_QPA_PLATFORM", "offscreen");
    }
    qInstallMessageHandler(is_offscreen() ? print_message : report_missing_display);
}

/// Unlike QApplication::arguments(), keeps the bytes of file names that are not UTF-8. Called after QApplication has
/// removed its own arguments.
QStringList arguments_of(int argc, char** argv) {
    QStringList arguments;
    for (int i = 0; i < argc; ++i) {
        arguments << file_name_from_bytes(argv[i]);
    }
    return arguments;
}

/// Ends at Ctrl-C with the documented exit status.
void exit_on_interrupt() {
    std::signal(SIGINT, [](int) { ::_exit(exit_canceled); });
}

struct Options {
    QCommandLineParser parser;
    QCommandLineOption render{"render",
                              QApplication::translate("main", "Draw a view into a picture and exit: %1.")
                                  .arg(view_names().join(QStringLiteral(", "))),
                              "view"};
    QCommandLineOption at{
        "at", QApplication::translate("main", "The point in time: event:N, time:T, mark:NAME, step:N, peak or end."),
        "point", "peak"};
    QCommandLineOption stack_by{
        "stack-by", QApplication::translate("main", "The grouping of stacked pictures: stack, category, module, ..."),
        "kind"};
    QCommandLineOption pane{"pane",
                            QApplication::translate("main",
                                                    "The open pane of a window: segments, graph, table, histograms, "
                                                    "summary, changes, calltree, treemap, source, whatif, "
                                                    "breakdown, sql or notes."),
                            "pane"};
    QCommandLineOption compare{
        "compare", QApplication::translate("main", "The other trace, with which the window compares."), "file"};
    QCommandLineOption steps{
        "steps", QApplication::translate("main", "Two steps, which the window compares, such as 3:20."), "A:B"};
    QCommandLineOption finding{
        "finding", QApplication::translate("main", "The number of the finding to show, in why and window."), "number"};
    QCommandLineOption size{"size", QApplication::translate("main", "Size of the picture."), "WxH", "1600x900"};
    QCommandLineOption scale{"scale", QApplication::translate("main", "Device pixels per pixel of a PNG."), "factor",
                             "1"};
    QCommandLineOption theme{"theme", QApplication::translate("main", "light, dark or system."), "theme"};
    QCommandLineOption language{"language", QApplication::translate("main", "Language of the program: en or zh_CN."),
                                "code"};
    QCommandLineOption device{
        "device", QApplication::translate("main", "The device (default: the one with most events)."), "number"};
    QCommandLineOption output{QStringList{"o", "output"}, QApplication::translate("main", "The picture, .png or .svg."),
                              "file"};

    /// Options that say what a picture shows; a window has its own controls for them.
    QList<QCommandLineOption> of_picture() const {
        return {at, stack_by, pane, compare, steps, finding, size, scale, device, output};
    }

    Options() {
        parser.setApplicationDescription(
            QApplication::translate("main", "Explains why GPU memory goes up and does not come back down."));
        parser.addHelpOption();
        parser.addVersionOption();
        parser.addOptions(QList<QCommandLineOption>{render, theme, language} + of_picture());
        parser.addPositionalArgument(
            "files", QApplication::translate("main", "Traces (.tide) or PyTorch memory snapshots."), "[FILE...]");
    }
};

Status refuse_picture_options(const Options& options) {
    for (const QCommandLineOption& option : options.of_picture()) {
        if (options.parser.isSet(option)) {
            return usage_error("--{option} says what a picture shows; use it with --render.",
                               with("option", option.names().back().toStdString()));
        }
    }
    return {};
}

Status read_steps(const QString& text, RenderRequest& request) {
    const QStringList numbers = text.split(u':');
    bool first = false, second = false;
    request.compared_steps = std::pair(numbers.value(0).toLongLong(&first), numbers.value(1).toLongLong(&second));
    return first && second && numbers.size() == 2
               ? Status()
               : usage_error("\"{text}\" does not name two steps; write --steps 3:20.",
                             with("text", text.toStdString()));
}

Status read_request(const Options& options, RenderRequest& request) {
    const QCommandLineParser& p = options.parser;
    const auto size = parse_size(p.value(options.size));
    if (!size) {
        return usage_error("\"{text}\" is not a size; use WIDTHxHEIGHT in pixels, such as 1600x900.",
                           with("text", p.value(options.size).toStdString()));
    }
    if (p.positionalArguments().size() != 1) {
        return usage_error("Name one trace to draw.");
    }
    if (p.isSet(options.render) && p.value(options.output).isEmpty()) {
        return usage_error("Name the picture with -o FILE.png or -o FILE.svg.");
    }
    bool number = true;
    if (p.isSet(options.device)) {
        request.device = p.value(options.device).toInt(&number);
    }
    bool finding_ok = true;
    if (p.isSet(options.finding)) {
        request.finding = p.value(options.finding).toInt(&finding_ok);
    }
    if (!finding_ok) {
        return usage_error("--finding takes a number.");
    }
    bool scale_ok = false;
    request.scale = p.value(options.scale).toDouble(&scale_ok);
    if (!number || !scale_ok || request.scale < 0.5 || request.scale > 8) {
        return usage_error("--device takes a number, --scale one from 0.5 to 8.");
    }
    if (p.isSet(options.stack_by)) {
        const auto by = group_by_from_name(p.value(options.stack_by).toStdString());
        if (!by) {
            return by.error();
        }
        request.stack_by = *by;
    }
    if (p.isSet(options.steps)) {
        TIDEMARK_TRY(read_steps(p.value(options.steps), request));
    }
    request.compared_trace = p.value(options.compare);
    request.pane = p.value(options.pane);
    request.view = p.value(options.render);
    request.at = p.value(options.at);
    request.size = *size;
    request.output = p.value(options.output);
    request.trace = p.positionalArguments().front();
    return {};
}

Status set_appearance(Application& application, const Options& options, bool picture) {
    const QCommandLineParser& p = options.parser;
    if (p.isSet(options.theme) || picture) {
        ThemeSetting theme = ThemeSetting::light;
        if (p.isSet(options.theme) && !theme_from_name(p.value(options.theme), theme)) {
            return usage_error("\"{text}\" is no theme; use light, dark or system.",
                               with("text", p.value(options.theme).toStdString()));
        }
        application.set_theme(theme, false);
    }
    if ((p.isSet(options.language) && !application.set_language(p.value(options.language), false))) {
        return usage_error("\"{text}\" is no language Tidemark speaks; use en or zh_CN.",
                           with("text", p.value(options.language).toStdString()));
    }
    return {};
}

}  // namespace

int main(int argc, char** argv) {
    const bool picture = has_argument(argc, argv, "--render");
    if (picture) {
        exit_on_interrupt();
    }
    select_platform(argc, argv);
    use_own_fonts_if_needed();
    QApplication qt(argc, argv);
    if (!is_offscreen()) {
        qInstallMessageHandler(nullptr);  // there is a display
    }
    QApplication::setApplicationName(QStringLiteral("tidemark"));
    QApplication::setApplicationDisplayName(QStringLiteral("Tidemark"));
    QApplication::setApplicationVersion(QStringLiteral(TIDEMARK_VERSION));
    QApplication::setDesktopFileName(QStringLiteral("org.tidemark.Tidemark"));
    QApplication::setWindowIcon(QIcon(QStringLiteral(":/icons/tidemark.svg")));
    Application application(picture ? Settings::Storage::in_memory : Settings::Storage::on_disk);
    Options options;
    options.parser.process(arguments_of(argc, argv));
    if (const Status appearance = set_appearance(application, options, picture); !appearance) {
        return report(appearance);
    }
    if (picture) {
        RenderRequest request;
        const Status read = read_request(options, request);
        if (!read) {
            return report(read);
        }
        return report(render(application, request));
    }
    if (const Status refused = refuse_picture_options(options); !refused) {
        return report(refused);
    }
    const QStringList files = options.parser.positionalArguments();
    for (const QString& file : files) {
        application.open(file);
    }
    if (files.isEmpty()) {
        application.open_window();
    }
    return QApplication::exec();
}
