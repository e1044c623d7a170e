// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/cli/record/start_recording.h"

#include <nlohmann/json.hpp>

#include "recorder/cli/output.h"

namespace tidemark::cli {
namespace {

/// The first recording with a PyTorch version compiles the plugin, which takes a minute or two.
constexpr auto start_patience = std::chrono::minutes(5);

}  // namespace

Status start_recording(const RecordedProgram& program, const nlohmann::json& request, const Words& words) {
    const auto answer = request_of(program, request, start_patience);
    if (!answer) {
        return answer.error();
    }
    const auto notice = answer->find("notice"), gaps = answer->find("gaps");
    if (notice != answer->end() && notice->is_string() && !notice->get<std::string>().empty()) {
        print_note(words, visible_text(notice->get<std::string>()));
    }
    if (gaps != answer->end() && gaps->is_array()) {
        for (const auto& gap : *gaps) {
            print_note(words, visible_text(gap.is_string() ? gap.get<std::string>() : gap.dump()));
        }
    }
    const auto pid = with("pid", program.pid);
    const auto output = answer->find("output");
    const std::string trace = output != answer->end() && output->is_string() ? output->get<std::string>() : "";
    return print((trace.empty() ? words("Process {pid} is being recorded; its trace gets its name when the program "
                                        "uses the GPU.",
                                        pid)
                                : words("Process {pid} is being recorded into {trace}.", pid,
                                        with("trace", visible_text(trace)))) +
                 '\n');
}

}  // namespace tidemark::cli
