// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// window_bench frames|graph|latency|table TRACE [--size WxH] [--part NAME] [--seconds N]: measures the window,
// offscreen by default. Prints JSON.
#include <QApplication>
#include <QCommandLineParser>
#include <QTextStream>

#include "gui/app/render.h"
#include "tests/bench/window_frames.h"
#include "tests/bench/window_latency.h"
#include "tests/bench/window_table.h"

using namespace tidemark;
using namespace tidemark::gui;

int main(int argc, char** argv) {
    if (qEnvironmentVariableIsEmpty("QT_QPA_PLATFORM")) {
        qputenv("QT_QPA_PLATFORM", "offscreen");
    }
    QApplication qt(argc, argv);
    Application application(Settings::Storage::in_memory);
    application.set_theme(ThemeSetting::light, false);
    QCommandLineParser parser;
    parser.addHelpOption();
    const QCommandLineOption size_option("size", "Size of the window.", "WxH", "1600x900");
    const QCommandLineOption seconds_option("seconds", "How long a growing trace is followed.", "seconds", "20");
    const QCommandLineOption part_option("part", "Of frames, only this: timeline, histograms, window, ...", "name");
    parser.addOptions({size_option, seconds_option, part_option});
    parser.addPositionalArgument("what", "frames, graph (of frames, the graph pane alone), latency or table");
    parser.addPositionalArgument("trace", "A trace; for latency one that is being written.");
    parser.process(qt);
    const QStringList arguments = parser.positionalArguments();
    const auto size = parse_size(parser.value(size_option));
    const bool is_known = QStringList{"frames", "graph", "latency", "table"}.contains(arguments.value(0));
    if (arguments.size() != 2 || !size || !is_known) {
        QTextStream(stderr) << parser.helpText();
        return 2;
    }
    const Status done =
        arguments[0] == "frames"  ? measure_frames(application, arguments[1], *size, parser.value(part_option))
        : arguments[0] == "graph" ? measure_graph(arguments[1], *size)
        : arguments[0] == "table"
            ? measure_table(arguments[1])
            : measure_latency(application, arguments[1], *size, parser.value(seconds_option).toDouble());
    if (!done) {
        QTextStream(stderr) << "window_bench: " << QString::fromStdString(done.error().sentence.english()) << Qt::endl;
        return 1;
    }
    return 0;
}
