// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Folders on disks of this machine, for traces whose destination cannot have a growing file.
#pragma once

#include <optional>
#include <string>

#include "storage/base/result.h"

namespace tidemark {

/// Returns why a trace for this destination is recorded in a scratch folder, as a clause without a full stop; empty if
/// it is recorded at its destination. TIDEMARK_USE_SCRATCH=1 and =0 decide; otherwise the destination's file system.
std::optional<Sentence> reason_for_scratch(const std::string& destination);

/// Returns the folder for scratch folders: TIDEMARK_SCRATCH, else the first of TMPDIR, /tmp, /var/tmp and
/// XDG_RUNTIME_DIR in which a trace can grow and that has enough room. Errors (environment): there is none.
Result<std::string> find_scratch_parent();

/// Creates a scratch folder that only this user can use. Its name contains that of this machine, which tells users on
/// other machines where a trace lies. Errors (environment): as find_scratch_parent; it cannot be created.
Result<std::string> create_scratch_folder();

/// Returns the path of the trace in a scratch folder to which the link at `path` leads; empty if there is no such link.
/// The trace need not exist on this machine.
std::string trace_behind_link(const std::string& path);

/// Returns the shell command that moves a trace from a scratch folder to its destination, with its log if it has one.
std::string move_command(const std::string& place, const std::string& destination);

}  // namespace tidemark
