// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The place of this process in a job of many processes.
#pragma once

#include <cstdint>
#include <optional>

namespace tidemark::recorder {

/// Returns the number of this process in its job, by the environment variables of torchrun (also of accelerate and
/// DeepSpeed), Open MPI, MPICH, MVAPICH or srun; nothing if it is the only process, or if no launcher set them.
std::optional<int64_t> rank_of_process();

}  // namespace tidemark::recorder
