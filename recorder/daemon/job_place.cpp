// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/daemon/job_place.h"

#include <fstream>

#include <fmt/format.h>

#include "recorder/core/environment.h"
#include "recorder/core/rank.h"
#include "recorder/daemon/program_facts.h"
#include "storage/base/utf8.h"

namespace tidemark::recorder {

namespace {

/// Returns the name of the main thread, which prctl(PR_SET_NAME) changes.
std::string thread_name_of(pid_t program) {
    std::ifstream file(fmt::format("/proc/{}/comm", program));
    std::string name;
    std::getline(file, name);
    return name;
}

}  // namespace

JobPlace job_place_of_process() {
    JobPlace place;
    place.node = valid_utf8(name_of_node());
    if (const auto rank = rank_of_process()) {
        place.rank = rank->rank;
        place.local_rank = rank->local_rank;
        place.world_size = rank->world_size;
    }
    // torchrun's name of the processes of one kind; "default" unless the user chose one.
    const std::string_view role = environment("ROLE_NAME");
    place.role = role == "default" ? "" : valid_utf8(role);
    return place;
}

std::string role_of_program(pid_t program, const std::string& command_line) {
    constexpr size_t most_bytes = 200;
    if (thread_name_of(program) == "pt_data_worker") {
        return "DataLoader worker";
    }
    // setproctitle, as of Ray, vLLM and SGLang, writes one text over all arguments.
    const std::string title = command_line_of(program);
    // A worker of Ray that waits says nothing of what it did.
    const bool is_title =
        !title.empty() && title != command_line && !command_line.starts_with(title) && title != "ray::IDLE";
    return is_title ? std::string(cut_text(title, most_bytes)) : "";
}

}  // namespace tidemark::recorder
