// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// A folder of Parquet files, DATASET/TABLE/run=NAME/part-0.parquet, written by a Python that has pyarrow.
#pragma once

#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "recorder/cli/program.h"
#include "storage/base/result.h"

namespace tidemark::cli {

/// Values by name; columns of every table.
using RunLabels = std::map<std::string, std::string>;

class ParquetDataset {
public:
    /// Starts the Python. Errors: no Python, or none with pyarrow (environment); labels that the tables or other runs
    /// of the dataset do not allow (usage).
    static Result<ParquetDataset> open(const std::string& folder, const RunLabels& labels);

    bool has_run(const std::string& run) const;

    /// Begins a run. Its files appear when it is finished; a run of that name is replaced.
    /// Errors of all: the files cannot be written (environment). Then nothing more can be written.
    Status begin(const std::string& run);
    Status add(std::string_view table, std::string_view rows);
    /// Returns the bytes of the files.
    Result<int64_t> finish();
    /// Removes the files of the run.
    Status abandon();

    /// Returns whether nothing more can be written.
    bool has_failed() const { return has_failed_; }

private:
    ParquetDataset(std::string folder, std::unique_ptr<PipedProgram> python)
        : folder_(std::move(folder)), python_(std::move(python)) {}
    /// Waits for the answer of Python.
    Result<nlohmann::json> answer();
    /// `bytes`: a message that ends with a line break, and its rows.
    Status send(std::string_view bytes);

    std::string folder_;
    std::unique_ptr<PipedProgram> python_;
    bool has_failed_ = false;
};

}  // namespace tidemark::cli
