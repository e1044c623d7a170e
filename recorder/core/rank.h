// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The rank of this process in a job of many processes, and whether the user selected it. Only inline functions: the
// library in recorded programs, the recorder process and the command use them.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "recorder/core/environment.h"

namespace tidemark::recorder {

struct Rank {
    int64_t rank = 0;                               ///< from 0, among all processes of the job
    std::optional<int64_t> local_rank, world_size;  ///< from 0 on its node; the number of ranks
};

/// Returns the whole text as a number that is not negative.
inline std::optional<int64_t> as_number(std::string_view text) {
    int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    const bool is_number = error == std::errc() && end == text.data() + text.size() && number >= 0;
    return is_number ? std::optional(number) : std::nullopt;
}

/// Returns the rank, by the environment variables of torchrun (also of accelerate and DeepSpeed), Open MPI, MPICH,
/// MVAPICH or srun; nothing if it is the only process, or if no launcher set them.
inline std::optional<Rank> rank_of_process() {
    struct Launcher {
        const char *rank, *processes, *local_rank;
    };
    // A batch script of Slurm has SLURM_PROCID, but only processes of srun have SLURM_STEP_NUM_TASKS.
    constexpr std::array launchers{
        Launcher{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"},
        Launcher{"PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID"},
        Launcher{"MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_LOCAL_RANK"},
        Launcher{"SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID"}};
    const auto number_in = [](const char* variable) { return as_number(environment(variable)); };
    // torchrun sets it inside the processes of another launcher. Programs set it alone, too.
    if (const auto rank = number_in("RANK")) {
        return Rank{*rank, number_in("LOCAL_RANK"), number_in("WORLD_SIZE")};
    }
    for (const Launcher& launcher : launchers) {
        const auto rank = number_in(launcher.rank), processes = number_in(launcher.processes);
        if (rank && processes.value_or(0) > 1) {
            return Rank{*rank, number_in(launcher.local_rank), processes};
        }
    }
    return std::nullopt;
}

/// Returns the name of the machine; "" if it has none.
inline std::string name_of_node() {
    std::array<char, 256> name{};
    return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

/// Calls visit(part) for each part of "0,17,32-39" until it returns true. Returns whether one did.
template <class Visit>
bool any_part(std::string_view list, Visit&& visit) {
    for (size_t at = 0; at <= list.size();) {
        const size_t comma = std::min(list.find(',', at), list.size());
        if (visit(list.substr(at, comma - at))) {
            return true;
        }
        at = comma + 1;
    }
    return false;
}

/// Returns whether a rank is in "0,17,32-39".
inline bool is_in_ranks(std::string_view list, int64_t rank) {
    return any_part(list, [rank](std::string_view part) {
        const size_t dash = part.find('-');
        const auto first = as_number(part.substr(0, dash));
        const auto last = dash == std::string_view::npos ? first : as_number(part.substr(dash + 1));
        return first && last && *first <= rank && rank <= *last;
    });
}

/// Returns whether the user wants a trace of this process: TIDEMARK_RANKS, TIDEMARK_ONE_IN and TIDEMARK_NODES. Those of
/// ranks do not concern processes without one.
inline bool process_is_selected() {
    const std::string_view ranks = environment("TIDEMARK_RANKS"), nodes = environment("TIDEMARK_NODES");
    const int64_t one_in = as_number(environment("TIDEMARK_ONE_IN")).value_or(1);
    const std::optional<Rank> rank = rank_of_process();
    if (rank && ((!ranks.empty() && !is_in_ranks(ranks, rank->rank)) || (one_in > 1 && rank->rank % one_in != 0))) {
        return false;
    }
    const std::string node = name_of_node();
    return nodes.empty() || any_part(nodes, [&](std::string_view part) { return part == node; });
}

/// Returns whether TIDEMARK_RECORD requests a recording of this process.
inline bool recording_is_requested() { return environment("TIDEMARK_RECORD") == "1" && process_is_selected(); }

}  // namespace tidemark::recorder
