// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/daemon/source_log.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "recorder/core/environment.h"
#include "recorder/daemon/source_file.h"
#include "storage/trace/limits.h"

namespace tidemark::recorder {
namespace {

/// Lines before and after the one that is named: the line that stores a tensor is often near that which makes it. Fewer
/// when half of the limit is reached, so that large programs have some of each line.
constexpr int32_t lines_around = 12, fewest_lines_around = 3;
constexpr size_t typical_line = 40;  ///< bytes
/// Start times of processes are rounded, and clocks are adjusted.
constexpr int64_t clock_tolerance = 100'000'000;
/// Lines of generated files may have any number.
constexpr int32_t last_line = 1'000'000;

/// Returns when the program started, or the recorder, which it started, if the program has ended already.
int64_t start_of_program(pid_t program) {
    const int64_t start = start_of_process(program);
    return start != 0 ? start : start_of_process(getpid());
}

}  // namespace

SourceLog::SourceLog(StreamingWriter& writer, pid_t program)
    : writer_(writer),
      is_wanted_(environment("TIDEMARK_SOURCE") != "0"),
      working_folder_(working_folder_of(program)),
      program_start_(start_of_program(program)) {}

void SourceLog::need(StringId file, int32_t line) {
    const StackTable& table = writer_.stacks();
    const FrameRole role = role_of_frame("", table.string(file), line);
    const bool is_users = role == FrameRole::user || role == FrameRole::program;
    const bool is_file = !table.string(file).starts_with('<');  // a cell of a notebook is none
    if (!is_wanted_ || !is_users || !is_file || line < 1 || line > last_line) {
        return;
    }
    const int64_t expected = bytes_ + needed_lines_ * counted_source_bytes(typical_line);
    const int32_t around = expected < most_source_bytes / 2 ? lines_around : fewest_lines_around;
    for (int32_t number = std::max(line - around, 1); number <= line + around; ++number) {
        if (!stored_[file].contains(number)) {
            needed_lines_ += needed_[file].insert(number).second ? 1 : 0;
        }
    }
}

void SourceLog::need_frames() {
    const StackTable& table = writer_.stacks();
    for (; next_frame_ < table.frame_count(); ++next_frame_) {
        const FrameRole role = table.role(next_frame_);
        if (role == FrameRole::user || role == FrameRole::program) {
            need(table.frame(next_frame_).file, table.frame(next_frame_).line);
        }
    }
}

void SourceLog::report() {
    need_frames();
    needed_lines_ = 0;
    for (const auto& [file, numbers] : std::exchange(needed_, {})) {
        store(file, numbers);
    }
}

void SourceLog::store(StringId file, const Numbers& numbers) {
    if (bytes_ >= most_source_bytes) {
        left_out_ += static_cast<int64_t>(numbers.size());
        return;
    }
    const std::filesystem::path path = std::filesystem::path(working_folder_) / writer_.stacks().string(file);
    if (!path.is_absolute()) {
        return;
    }
    const SourceFile read = read_source_file(path.string(), numbers, program_start_ + clock_tolerance);
    if (read.state == SourceFile::State::changed) {
        changed_.insert(file);
    }
    for (const SourceLine& line : read.lines) {
        store(file, line);
    }
}

void SourceLog::store(StringId file, const SourceLine& line) {
    if (!stored_[file].insert(line.number).second) {
        return;
    }
    const int64_t counted = counted_source_bytes(line.text.size());
    if (bytes_ + counted > most_source_bytes) {
        bytes_ = most_source_bytes;  // a later, shorter line would only look like the next one
        ++left_out_;
        return;
    }
    bytes_ += counted;
    writer_.source_line({file, line.number, line.text});
}

void SourceLog::report_gaps(RunLog& run_log, int64_t time) const {
    if (!changed_.empty()) {
        const auto files = static_cast<int64_t>(changed_.size());
        run_log.add_data_gap({DataGapKind::not_recorded, -1, time, files, 0, DataGapReason::source_changed, {}, {}});
    }
    if (left_out_ > 0) {
        run_log.add_data_gap({DataGapKind::not_recorded,
                              -1,
                              time,
                              left_out_,
                              0,
                              DataGapReason::source_cut,
                              {{"limit", fmt::to_string(most_source_bytes)}},
                              {}});
    }
}

}  // namespace tidemark::recorder
