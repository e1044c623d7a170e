// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Names of traces: see SESSIONS.md.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "recorder/daemon/session_folder.h"
#include "storage/trace/trace.h"

namespace tidemark::recorder {

/// Returns whether the user chose a folder for all traces of a job.
bool is_job_folder(const std::string& output);

/// Returns "run.tidejob/rank0-NODE-PID.tide", or without a rank "run.tidejob/NODE-PID.tide": processes of several nodes
/// may have the same pid.
std::string name_in_job(const std::string& folder, const JobPlace& place, pid_t program);

/// Returns "run.rank0-PID.tide" for "run.tide". `rank`: see job_place.h.
std::string name_with_rank(const std::string& output, int64_t rank, pid_t program);

/// Returns `output` for the first process of the session that uses the GPU, else "run.PID.tide". A process that has
/// ended without using it gets `output` only if no other process has it, and if it is the session's program or ends
/// with it. `parent`: of the program.
std::string claim_name(const std::string& output, const SessionFolder& session, pid_t program, pid_t parent,
                       bool has_used_gpu);

}  // namespace tidemark::recorder
