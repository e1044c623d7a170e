// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The example traces that are installed with the window.
#pragma once

#include <QString>
#include <vector>

namespace tidemark::gui {

struct Example {
    QString file;  ///< an existing file
    QString title, sentence;
};

/// Returns the examples that exist: of an installed window in share/tidemark/examples, in a build tree in the sources.
std::vector<Example> examples();
bool is_example(const QString& file);

}  // namespace tidemark::gui
