// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Where `tidemark export` writes one file: a new file, or the standard output.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "storage/base/part_file.h"

namespace tidemark::cli {

class ExportOutput {
public:
    /// `path`: "-" is the standard output. Errors: a file exists that must not be replaced (usage), the folder cannot
    /// be written (environment).
    static Result<ExportOutput> open(const std::string& path, bool force);

    Status write(std::string_view bytes);
    /// Gives the file its name. Without it, nothing remains.
    Status keep();

    bool is_file() const { return file_.has_value(); }
    int64_t bytes() const { return bytes_; }

private:
    std::optional<PartFile> file_;  ///< nothing: the standard output
    int64_t bytes_ = 0;
};

}  // namespace tidemark::cli
