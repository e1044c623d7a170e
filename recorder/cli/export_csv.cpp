// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/cli/export_csv.h"

#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "recorder/cli/csv.h"
#include "recorder/cli/explained.h"
#include "recorder/cli/exported_tables.h"
#include "recorder/cli/file_kind.h"
#include "recorder/cli/output.h"
#include "storage/base/part_file.h"
#include "storage/base/system_reason.h"
#include "storage/base/units.h"
#include "storage/base/utf8.h"

namespace tidemark::cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

std::string cell_of(const ordered_json& value) {
    return value.is_null() ? "" : value.is_string() ? csv_text(value.get<std::string>()) : value.dump();
}

/// `row`: an object with all columns of the table.
std::string line_of(const ordered_json& row) {
    std::string line;
    for (const auto& [name, value] : row.items()) {
        line += (line.empty() ? "" : ",") + cell_of(value);
    }
    return line + "\r\n";
}

std::string head_of(const ordered_json& row) {
    std::string line;
    for (const auto& [name, value] : row.items()) {
        line += (line.empty() ? "" : ",") + name;
    }
    return line + "\r\n";
}

/// The files of all tables. They get their names together.
class CsvFiles {
public:
    CsvFiles(std::string folder, bool force) : folder_(std::move(folder)), force_(force) {}

    /// `rows`: one JSON object a line.
    Status add(std::string_view table, std::string_view rows) {
        std::string text;
        for (size_t at = 0, end = 0; (end = rows.find('\n', at)) != std::string_view::npos; at = end + 1) {
            const auto row = ordered_json::parse(rows.substr(at, end - at));
            if (!files_.contains(table)) {
                TIDEMARK_TRY(create(std::string(table)));
                text += head_of(row);
            }
            text += line_of(row);
        }
        const auto file = files_.find(table);
        bytes_ += static_cast<int64_t>(text.size());
        return file == files_.end() ? Status() : file->second.write(text);
    }

    Status keep() {
        for (auto& [table, file] : files_) {
            TIDEMARK_TRY(file.keep());
        }
        return {};
    }
    int64_t count() const { return static_cast<int64_t>(files_.size()); }
    int64_t bytes() const { return bytes_; }

private:
    Status create(const std::string& table) {
        const std::string path = fmt::format("{}/{}.csv", folder_, table);
        TIDEMARK_TRY(may_write_report(path, force_));
        auto file = PartFile::create(path, force_ ? IfExists::replace : IfExists::fail, FileAccess::umask);
        if (!file) {
            return file.error();
        }
        files_.emplace(table, *std::move(file));
        return {};
    }

    const std::string folder_;
    const bool force_;
    std::map<std::string, PartFile, std::less<>> files_;
    int64_t bytes_ = 0;
};

}  // namespace

Status export_csv(const ExportOptions& options, const std::string& trace, const Words& words, Progress& progress) {
    const std::string folder =
        options.output.empty() ? fs::path(trace).replace_extension().string() + "-csv" : options.output;
    const ProgressBar bar(progress, words("Exporting {path}", with("path", trace)));
    const auto devices = explain_devices({trace, "", options.device}, "", words, progress);
    if (!devices) {
        return devices.error();
    }
    std::error_code error;
    fs::create_directories(folder, error);
    if (error) {
        return environment_error("{path} cannot be created: {reason}.", with("path", folder),
                                 with("reason", system_reason(error.value())));
    }
    CsvFiles files(folder, options.force);
    const auto which = options.allocations == "all" ? ExportedAllocations::all : ExportedAllocations::alive;
    for (const Explained& device : *devices) {
        TIDEMARK_TRY(export_tables(device, which, [&](std::string_view table, std::string_view rows) {
            return progress.canceled ? Status(canceled_error()) : files.add(table, rows);
        }));
    }
    TIDEMARK_TRY(files.keep());
    return print(
        fmt::format("{}: {}\n", visible_text(folder),
                    words.list({words.plural(files.count(), "{n} table", "{n} tables"), format_bytes(files.bytes())})));
}

}  // namespace tidemark::cli
