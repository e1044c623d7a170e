// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/app/examples.h"

#include <QCoreApplication>
#include <QDir>
#include <QFileInfo>
#include <algorithm>

namespace tidemark::gui {

namespace {

QString text(const char* source) { return QCoreApplication::translate("Examples", source); }

/// Returns the folder of the examples: of an installed program, or of the sources around a build folder.
QString examples_folder() {
    constexpr int most_levels = 4;  // from build/ci/tests/gui to the sources
    QDir folder(QCoreApplication::applicationDirPath());
    if (const QFileInfo installed(folder.filePath(QStringLiteral("../share/tidemark/examples"))); installed.isDir()) {
        return installed.canonicalFilePath();
    }
    for (int level = 0; level < most_levels && folder.cdUp(); ++level) {
        if (const QFileInfo found(folder.filePath(QStringLiteral("resources/examples"))); found.isDir()) {
            return found.canonicalFilePath();
        }
    }
    return {};
}

}  // namespace

std::vector<Example> examples() {
    // gui/CMakeLists.txt installs these files.
    std::vector<Example> all{
        {QStringLiteral("s01_list_of_cpu_outputs.tide"),
         text(QT_TRANSLATE_NOOP("Examples", "A list retains the autograd graphs")),
         text(QT_TRANSLATE_NOOP("Examples", "Outputs are moved to the CPU, and GPU memory grows all the same."))},
        {QStringLiteral("s10_validation_without_no_grad.tide"),
         text(QT_TRANSLATE_NOOP("Examples", "Validation without torch.no_grad()")),
         text(QT_TRANSLATE_NOOP("Examples", "Each prediction retains a graph that nothing uses."))},
        {QStringLiteral("s09_list_until_out_of_memory.tide"), text(QT_TRANSLATE_NOOP("Examples", "Out of memory")),
         text(QT_TRANSLATE_NOOP("Examples", "A list grows until an allocation fails: what was in memory then."))},
        {QStringLiteral("s14_loss_beside_memory.tide"),
         text(QT_TRANSLATE_NOOP("Examples", "Memory that the work does not need")),
         text(QT_TRANSLATE_NOOP("Examples", "A broadcast tensor is copied in full in a training loop."))},
        {QStringLiteral("gpt2.tide"), text(QT_TRANSLATE_NOOP("Examples", "Training of GPT-2")),
         text(QT_TRANSLATE_NOOP("Examples", "A healthy run: parameters, gradients, optimizer state, activations."))}};
    const QString folder = examples_folder();
    for (Example& example : all) {
        example.file = folder + QLatin1Char('/') + example.file;
    }
    std::erase_if(all, [](const Example& example) { return !QFileInfo(example.file).isFile(); });
    return all;
}

bool is_example(const QString& file) {
    const QString folder = examples_folder();
    return !folder.isEmpty() && QFileInfo(file).canonicalPath() == folder;
}

}  // namespace tidemark::gui
