// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/daemon/rank.h"

#include <array>
#include <charconv>

#include "recorder/core/environment.h"

namespace tidemark::recorder {

namespace {

struct Launcher {
    const char* rank;
    const char* processes;  ///< the number of processes of the job
};

// A batch script of Slurm has SLURM_PROCID, but only processes of srun have SLURM_STEP_NUM_TASKS.
constexpr std::array launchers{Launcher{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                               Launcher{"PMI_RANK", "PMI_SIZE"}, Launcher{"MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE"},
                               Launcher{"SLURM_PROCID", "SLURM_STEP_NUM_TASKS"}};

std::optional<int64_t> number_in(const char* variable) {
    const std::string_view text = environment(variable);
    int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    const bool is_number = error == std::errc() && end == text.data() + text.size() && number >= 0;
    return is_number ? std::optional(number) : std::nullopt;
}

}  // namespace

std::optional<int64_t> rank_of_process() {
    // torchrun sets it inside the processes of another launcher. Programs set it alone, too.
    if (const auto rank = number_in("RANK")) {
        return rank;
    }
    for (const Launcher& launcher : launchers) {
        if (const auto rank = number_in(launcher.rank); rank && number_in(launcher.processes).value_or(0) > 1) {
            return rank;
        }
    }
    return std::nullopt;
}

}  // namespace tidemark::recorder
