// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// A JSON file of torch.profiler, to which events are added. It may be compressed and larger than the memory.
#pragma once

#include <cstdint>
#include <string>

#include "storage/base/progress.h"
#include "storage/convert/take_bytes.h"

namespace tidemark {

class ProfilerTrace {
public:
    /// Reads the whole file once. Errors: the file cannot be read (environment), or is not a trace of torch.profiler
    /// (input); canceled.
    static Result<ProfilerTrace> open(const std::string& path, Progress& progress);

    /// Returns the begin of the file's clock, in ns since the Unix epoch; 0 if its times count from there.
    int64_t base() const { return base_; }

    /// Writes the file with the events that `add` writes at the begin of its list. `add` separates its events by
    /// commas. Errors: as open(), and those of `add` and `take`.
    Status write_with(const std::function<Status(const TakeBytes&)>& add, const TakeBytes& take,
                      Progress& progress) const;

private:
    explicit ProfilerTrace(std::string path) : path_(std::move(path)) {}

    std::string path_;
    int64_t base_ = 0;
    uint64_t list_ = 0;  ///< unpacked bytes up to the begin of the list's content
    bool has_events_ = false;
};

}  // namespace tidemark
