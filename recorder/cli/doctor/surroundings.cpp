// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/cli/doctor/surroundings.h"

#include <cstdlib>
#include <filesystem>

#include "recorder/cli/program.h"

namespace tidemark::cli {
namespace {

bool has_variable(const char* name) { return std::getenv(name) != nullptr; }

bool is_in_container() {
    std::error_code error;
    return std::filesystem::exists("/.dockerenv", error) || std::filesystem::exists("/run/.containerenv", error) ||
           has_variable("KUBERNETES_SERVICE_HOST") || has_variable("APPTAINER_CONTAINER");
}

}  // namespace

Surroundings find_surroundings() {
    return {has_variable("COLAB_RELEASE_TAG"), is_in_container(),
            !has_variable("SLURM_JOB_ID") && !find_program("srun").empty(), !find_program("apt-get").empty()};
}

}  // namespace tidemark::cli
