// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "tests/hostile/views.h"

#include <QApplication>
#include <cstdio>

#include "gui/app/application.h"
#include "gui/app/render.h"
#include "storage/base/exit_status.h"

namespace tidemark::hostile {

namespace {

gui::Application* application = nullptr;  // lives as long as the process, like QApplication

int draw(const QString& view, const Paths& paths) {
    gui::RenderRequest request;
    request.view = view;
    request.size = QSize(700, 450);
    request.trace = QString::fromStdString(paths.trace);
    request.output = QStringLiteral("picture.png");
    const Status drawn = gui::render(*application, request);
    if (drawn) {
        return exit_success;
    }
    std::fprintf(stderr, "%s\n", drawn.error().sentence.english().c_str());
    return exit_status(drawn.error().kind);
}

}  // namespace

void prepare_views(int& argc, char** argv) {
    qputenv("QT_QPA_PLATFORM", "offscreen");
    new QApplication(argc, argv);
    application = new gui::Application(gui::Settings::Storage::in_memory);
}

std::vector<Reading> view_readings() {
    std::vector<Reading> readings;
    for (const QString& view : gui::view_names()) {
        readings.push_back(
            {"render --view " + view.toStdString(), [view](const Paths& paths) { return draw(view, paths); }});
    }
    return readings;
}

}  // namespace tidemark::hostile
