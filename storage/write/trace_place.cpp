// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/write/trace_place.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>

#include "storage/base/copy_file.h"
#include "storage/base/scratch_folder.h"
#include "storage/base/system_reason.h"
#include "storage/write/old_trace.h"

namespace tidemark {
namespace {

namespace fs = std::filesystem;

Error cannot_write(const std::string& path, int reason) {
    return environment_error("{path} cannot be written: {reason}.", with("path", path),
                             with("reason", system_reason(reason)));
}

/// Returns whether the file system or a container refuses links as such.
bool has_no_links(int reason) {
    constexpr std::array reasons{EPERM, EOPNOTSUPP, ENOSYS, EINVAL};
    return std::find(reasons.begin(), reasons.end(), reason) != reasons.end();
}

}  // namespace

Result<TracePlace> TracePlace::prepare(const std::string& destination, IfExists if_exists) {
    TracePlace place(destination);
    place.if_exists_ = if_exists;
    const auto reason = reason_for_scratch(destination);
    if (!reason) {
        return place;
    }
    place.reason_ = reason;
    if (if_exists == IfExists::replace) {
        // On a file system without locks no recorder writes directly, so the old trace is not being written.
        TIDEMARK_TRY(remove_old_trace(destination, WithoutLocks::replace));
    }
    const auto scratch = create_scratch_folder();
    if (!scratch) {
        return scratch.error();
    }
    place.path_ = *scratch + '/' + fs::path(destination).filename().string();
    if (const Status linked = place.link(); !linked) {
        place.abandon();
        return linked.error();
    }
    remove_files_beside(destination);
    return place;
}

Status TracePlace::link() {
    if (::symlink(path_.c_str(), destination_.c_str()) == 0) {
        is_linked_ = true;
        return {};
    }
    if (errno == EEXIST) {
        return environment_error("{path} exists already; it is not overwritten.", with("path", destination_));
    }
    if (!has_no_links(errno)) {
        return cannot_write(destination_, errno);
    }
    const std::string folder = fs::path(destination_).parent_path().string();
    return ::access(folder.c_str(), W_OK | X_OK) == 0 ? Status() : Status(cannot_write(destination_, errno));
}

Sentence TracePlace::notice() const {
    return Sentence("The trace is recorded in {place}, because {reason}. It moves to {destination} at the end.",
                    with("place", path_), with("reason", *reason_), with("destination", destination_));
}

bool TracePlace::leads_here() const { return trace_behind_link(destination_) == path_; }

Status TracePlace::move_to_destination() {
    if (!is_elsewhere()) {
        return {};
    }
    if (const Status copied = copy_to_destination(); !copied) {
        return remains_elsewhere(copied.error());
    }
    remove_scratch();
    path_ = destination_;
    return {};
}

Error TracePlace::remains_elsewhere(const Error& error) const {
    return {error.kind, Sentence("{sentence} The trace is still in {place}. Move it with: {command}",
                                 with("sentence", error.sentence), with("place", path_),
                                 with("command", move_command(path_, destination_)))};
}

Status TracePlace::copy_to_destination() const {
    // A reader that follows the trace can keep the writer from merging its log, which then belongs to the trace. The
    // log comes first: the trace is complete when it appears.
    std::error_code error;
    if (const std::string log = path_ + "-wal"; fs::file_size(log, error) > 0 && !error) {
        TIDEMARK_TRY(copy(log, destination_ + "-wal"));
    }
    return copy(path_, destination_);
}

Status TracePlace::copy(const std::string& from, const std::string& to) const {
    return copy_file(from, to, leads_here() ? IfExists::replace : if_exists_);
}

void TracePlace::abandon() {
    if (is_linked_ && leads_here()) {
        ::unlink(destination_.c_str());
    }
    is_linked_ = false;
    if (is_elsewhere()) {
        remove_scratch();
    }
}

void TracePlace::remove_scratch() const {
    ::unlink(path_.c_str());
    remove_files_beside(path_);
    ::rmdir(fs::path(path_).parent_path().c_str());
}

}  // namespace tidemark
