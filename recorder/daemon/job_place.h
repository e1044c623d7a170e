// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The place of this process in a job of many processes.
#pragma once

#include <sys/types.h>

#include "storage/trace/trace.h"

namespace tidemark::recorder {

/// Returns the place of this process in its job: its rank (recorder/core/rank.h), its node, and the role that torchrun
/// gives it.
JobPlace job_place_of_process();

/// Returns what a program says about its own task: "VLLM::Worker_TP1" or "ray::Trainer.fit" if it has changed its title
/// from `command_line`, "DataLoader worker"; "" if it says nothing.
std::string role_of_program(pid_t program, const std::string& command_line);

}  // namespace tidemark::recorder
