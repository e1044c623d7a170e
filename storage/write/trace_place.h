// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Where a trace lies while it is recorded: at its destination, or in a scratch folder on a local disk if the file
// system of the destination cannot have a growing trace. In the latter case, the destination is a symbolic link to the
// trace, so that readers on this machine find it; it becomes the trace itself when the recording has ended.
#pragma once

#include <optional>
#include <string>

#include "storage/base/part_file.h"
#include "storage/base/result.h"
#include "storage/base/sentence.h"

namespace tidemark {

class TracePlace {
public:
    /// Decides on the place (see reason_for_scratch()), and creates the scratch folder and the link if needed. Errors
    /// (environment, usage): there is no scratch folder; the destination exists and must not be replaced, is being
    /// written, or is in a folder that is missing or not writable.
    static Result<TracePlace> prepare(const std::string& destination, IfExists if_exists);

    /// Returns the path at which the trace must be written.
    const std::string& path() const { return path_; }
    const std::string& destination() const { return destination_; }
    /// Returns the path at which readers on this machine find the trace now.
    const std::string& opened_at() const { return leads_here() ? destination_ : path_; }
    bool is_elsewhere() const { return path_ != destination_; }
    /// Returns what the user should know while the trace is elsewhere. Requires that it is.
    Sentence notice() const;

    /// Moves the finished trace to its destination. It appears there complete or not at all. Does nothing if it is
    /// there already. Errors (environment): a full disk, a missing folder, another file at the destination; the trace
    /// then stays at path().
    Status move_to_destination();
    /// Returns an error that also says where the trace lies and how to move it. Requires that it is elsewhere.
    Error remains_elsewhere(const Error& error) const;
    /// Removes the link and the scratch folder of a trace that could not be created.
    void abandon();

private:
    explicit TracePlace(const std::string& destination) : path_(destination), destination_(destination) {}
    Status link();
    Status copy_to_destination() const;
    bool leads_here() const;
    Status copy(const std::string& from, const std::string& to) const;
    void remove_scratch() const;

    std::string path_, destination_;
    IfExists if_exists_ = IfExists::fail;
    std::optional<Sentence> reason_;  ///< why it is elsewhere
    bool is_linked_ = false;
};

}  // namespace tidemark
