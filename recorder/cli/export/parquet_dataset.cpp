// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/cli/export/parquet_dataset.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <vector>

#include "recorder/cli/export/exported_tables.h"
#include "recorder/cli/record/recorder_home.h"
#include "storage/base/trusted_folder.h"

namespace tidemark::cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// Returns the path of the module that writes the files.
Result<std::string> find_module() {
    const RecorderHome home = find_recorder_home();
    std::string module = home.part("python/tidemark/_parquet.py");
    std::error_code error;
    if (!fs::exists(module, error)) {
        return environment_error(
            "{path} is missing. Reinstall Tidemark, or set TIDEMARK_HOME to the folder lib/tidemark of an "
            "installation.",
            with("path", module));
    }
    if (home.is_selected) {
        TIDEMARK_TRY(check_trusted_folder(home.folder));
    }
    return module;
}

using Names = std::vector<std::string>;

Names names_of(const RunLabels& labels) {
    Names names;
    for (const auto& label : labels) {
        names.push_back(label.first);
    }
    return names;
}

/// `begin`: the first answer of Python.
Status check_labels(const std::string& folder, const Names& labels, const json& begin) {
    const auto columns = begin.at("columns").get<Names>();
    for (const std::string& label : labels) {
        if (std::find(columns.begin(), columns.end(), label) != columns.end()) {
            return usage_error("--label {label}: the tables have a column of this name; use another one.",
                               with("label", label));
        }
    }
    if (begin.at("labels").is_null() || begin.at("labels").get<Names>() == labels) {
        return {};
    }
    const auto wanted = begin.at("labels").get<Names>();
    if (wanted.empty()) {
        return usage_error("The runs in {folder} have no labels; leave out --label, or use another folder with -o.",
                           with("folder", folder));
    }
    return usage_error(
        "The runs in {folder} have the labels {labels}; give the same ones with --label, or use another folder with "
        "-o.",
        with("folder", folder), with("labels", fmt::format("{}", fmt::join(wanted, ", "))));
}

}  // namespace

Result<ParquetDataset> ParquetDataset::open(const std::string& folder, const RunLabels& labels) {
    const auto module = find_module();
    if (!module) {
        return module.error();
    }
    const std::string python = find_python();
    if (python.empty()) {
        return environment_error("There is no python3 in PATH. A Python with pyarrow writes the Parquet files.");
    }
    auto program = PipedProgram::start({python, *module, folder, json(labels).dump(), exported_columns().dump()});
    if (!program) {
        return program.error();
    }
    ParquetDataset dataset(folder, std::move(*program));
    const auto begin = dataset.answer();
    if (!begin) {
        return begin.error();
    }
    if (begin->contains("missing")) {
        return environment_error(
            "{python} lacks pyarrow, which writes the Parquet files. Install it: {python} -m pip install pyarrow",
            with("python", python));
    }
    TIDEMARK_TRY(check_labels(folder, names_of(labels), *begin));
    return dataset;
}

bool ParquetDataset::has_run(const std::string& run) const {
    std::error_code error;
    return fs::exists(fmt::format("{}/runs/run={}/part-0.parquet", folder_, run), error);
}

Status ParquetDataset::begin(const std::string& run) { return send(json{{"run", run}}.dump() + '\n'); }

Status ParquetDataset::add(std::string_view table, std::string_view rows) {
    TIDEMARK_TRY(send(json{{"table", table}, {"bytes", rows.size()}}.dump() + '\n'));
    return send(rows);
}

Result<int64_t> ParquetDataset::finish() {
    TIDEMARK_TRY(send("{\"finish\": true}\n"));
    const auto finished = answer();
    return finished ? Result<int64_t>(finished->value("bytes", int64_t{0})) : finished.error();
}

Status ParquetDataset::abandon() {
    TIDEMARK_TRY(send("{\"abandon\": true}\n"));
    const auto abandoned = answer();
    return abandoned ? Status() : abandoned.error();
}

Result<json> ParquetDataset::answer() {
    const auto line = python_->read_line();
    json message = line ? json::parse(*line, nullptr, false) : json();
    if (message.is_object() && !message.contains("error")) {
        return message;
    }
    has_failed_ = true;
    if (!message.is_object()) {
        return environment_error("The Python that writes {folder} ended before all was written.",
                                 with("folder", folder_));
    }
    return environment_error("{path} could not be written: {reason}.", with("path", message.value("path", folder_)),
                             with("reason", message.value("error", "")));
}

Status ParquetDataset::send(std::string_view bytes) {
    if (python_->write(bytes)) {
        return {};
    }
    const auto reason = answer();  // why it reads no more
    has_failed_ = true;
    return reason ? environment_error("The Python that writes {folder} ended before all was written.",
                                      with("folder", folder_))
                  : reason.error();
}

}  // namespace tidemark::cli
