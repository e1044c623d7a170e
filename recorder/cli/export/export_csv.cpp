// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/cli/export/export_csv.h"

#include <fmt/format.h>

#include <filesystem>
#include <map>

#include "recorder/cli/csv.h"
#include "recorder/cli/explained.h"
#include "recorder/cli/file_kind.h"
#include "recorder/cli/output.h"
#include "storage/base/part_file.h"
#include "storage/base/system_reason.h"
#include "storage/base/units.h"
#include "storage/base/utf8.h"
#include "storage/tables/tables.h"

namespace tidemark::cli {
namespace {

namespace fs = std::filesystem;

std::string cell_of(const Column& column, int64_t row) {
    if (column.is_missing(row)) {
        return "";
    }
    switch (column.type()) {
        case ColumnType::flag: return column.flag_at(row) ? "true" : "false";
        case ColumnType::int32:
        case ColumnType::int64:
        case ColumnType::utc_time: return fmt::to_string(column.number_at(row));
        case ColumnType::text:
        case ColumnType::repeated_text: return csv_text(column.text_at(row));
    }
    return "";
}

std::string rows_of(const TableBatch& batch) {
    std::string text;
    for (int64_t row = 0; row < batch.rows(); ++row) {
        const char* separator = "";
        for (const Column& column : batch.columns) {
            text += separator + cell_of(column, row);
            separator = ",";
        }
        text += "\r\n";
    }
    return text;
}

std::string head_of(const TableInfo& table) {
    std::string line;
    for (const ColumnInfo& column : table.columns) {
        line.append(line.empty() ? "" : ",").append(column.name);
    }
    return line + "\r\n";
}

struct Written {
    int64_t files = 0, bytes = 0;
};

/// The files of all tables. They get their names together.
class CsvFiles {
public:
    CsvFiles(std::string folder, bool force) : folder_(std::move(folder)), force_(force) {}

    Status add(const TableBatch& batch) {
        if (batch.rows() == 0) {
            return {};
        }
        const std::string table(batch.table.name);
        std::string text;
        if (!files_.contains(table)) {
            TIDEMARK_TRY(create(table));
            text = head_of(batch.table);
        }
        text += rows_of(batch);
        bytes_ += static_cast<int64_t>(text.size());
        return files_.at(table).write(text);
    }

    Status keep() {
        for (auto& [table, file] : files_) {
            TIDEMARK_TRY(file.keep());
        }
        return {};
    }
    Written written() const { return {static_cast<int64_t>(files_.size()), bytes_}; }

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

/// After an error, no file is left.
Result<Written> write_files(CsvFiles files, const std::vector<Explained>& devices, ExportedAllocations which,
                            const Progress& progress) {
    for (const Explained& device : devices) {
        TIDEMARK_TRY(write_dataset(device, which, [&](TableBatch&& batch) {
            return progress.canceled ? Status(canceled_error()) : files.add(batch);
        }));
    }
    TIDEMARK_TRY(files.keep());
    return files.written();
}

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
    const bool is_new = fs::create_directories(folder, error);
    if (error) {
        return environment_error("{path} cannot be created: {reason}.", with("path", folder),
                                 with("reason", system_reason(error.value())));
    }
    const auto which = options.allocations == "all" ? ExportedAllocations::all : ExportedAllocations::alive;
    const auto written = write_files(CsvFiles(folder, options.force), *devices, which, progress);
    if (!written) {
        if (is_new) {
            fs::remove(folder, error);  // of an existing folder, nothing is removed
        }
        return written.error();
    }
    return print(fmt::format(
        "{}: {}\n", visible_text(folder),
        words.list({words.plural(written->files, "{n} table", "{n} tables"), format_bytes(written->bytes)})));
}

}  // namespace tidemark::cli
