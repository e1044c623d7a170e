// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/cli/csv.h"

#include "storage/base/utf8.h"

namespace tidemark::cli {

std::string csv_cell(std::string text) {
    if (text.find_first_of(",\"\r\n") == std::string::npos) {
        return text;
    }
    for (size_t at = 0; (at = text.find('"', at)) != std::string::npos; at += 2) {
        text.insert(at, 1, '"');
    }
    return '"' + text + '"';
}

std::string csv_text(std::string_view text) {
    std::string cell = visible_text(text);
    if (cell.find_first_of("=+-@") == 0) {
        cell.insert(0, 1, '\'');
    }
    return csv_cell(std::move(cell));
}

}  // namespace tidemark::cli
