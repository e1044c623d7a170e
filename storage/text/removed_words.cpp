// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/text/removed_words.h"

namespace tidemark {

std::string removed_title(const Words& words, RemovedKind kind) {
    switch (kind) {
        case RemovedKind::path: return words("paths of files and libraries");
        case RemovedKind::function: return words("functions");
        case RemovedKind::module: return words("modules and parameters");
        case RemovedKind::op: return words("operators and nodes of the graph");
        case RemovedKind::variable: return words("variables");
        case RemovedKind::mark: return words("marks, ranges and streams");
        case RemovedKind::source_line: return words("lines of source files");
        case RemovedKind::command_line: return words("command lines with their arguments");
        case RemovedKind::host: return words("name of the computer");
        case RemovedKind::free_text: return words("other texts");
        case RemovedKind::setting: return words("settings");
        case RemovedKind::time: return words("date and time of the recording");
    }
    return {};
}

}  // namespace tidemark
