// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Where this process runs: the command that mends a machine differs.
#pragma once

namespace tidemark::cli {

struct Surroundings {
    bool is_colab = false;
    bool is_container = false;       ///< Docker, Podman, Kubernetes, Apptainer
    bool is_outside_of_job = false;  ///< on a machine with Slurm, but in no job: a login node
    bool has_apt = false;            ///< Debian, Ubuntu
};
Surroundings find_surroundings();

}  // namespace tidemark::cli
