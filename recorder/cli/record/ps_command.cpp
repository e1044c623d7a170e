// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// tidemark ps: the recorded programs of this user on this machine.
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>

#include "recorder/cli/command.h"
#include "recorder/cli/output.h"
#include "recorder/cli/record/recorded_programs.h"
#include "storage/base/units.h"
#include "storage/report/json_parts.h"
#include "storage/report/layout.h"

namespace tidemark::cli {
namespace {

using nlohmann::ordered_json;

std::string time_words(int64_t utc_ns, const Words& words) {
    if (utc_ns == 0) {
        return words("unknown");
    }
    const auto time = std::chrono::system_clock::from_time_t(utc_ns / 1'000'000'000);
    return fmt::format("{:%Y-%m-%d %H:%M:%S}", fmt::localtime(std::chrono::system_clock::to_time_t(time)));
}

std::string cost_words(const RecordedProgram& program, const Words& words) {
    return program.cost ? Words::percent(*program.cost) : words("unknown");
}

/// "4711  recording since 2026-11-24 16:20:01: 12,345 events, 1.20 MiB, recording cost 1.2 %", and the trace and the
/// command line below.
std::string program_text(const RecordedProgram& program, const Words& words) {
    std::string text = fmt::format("{:>7}  {}", program.pid,
                                   words("{state} since {time}", with("state", state_words(words, program.state)),
                                         with("time", time_words(program.since_utc_ns, words))));
    if (!program.trace.empty()) {
        text += ": " + words.list({words.plural(program.events, "{n} event", "{n} events"), format_bytes(program.bytes),
                                   words("recording cost {share}", with("share", cost_words(program, words)))});
    }
    text += '\n';
    for (const std::string& detail : {program.trace, program.command_line}) {
        if (!detail.empty()) {
            text += fmt::format("{:9}{}\n", "", visible_text(detail));
        }
    }
    return text;
}

ordered_json program_json(const RecordedProgram& program) {
    return {{"pid", program.pid},
            {"state", state_word(program.state)},
            {"command_line", program.command_line},
            {"since_utc_ns", program.since_utc_ns == 0 ? ordered_json() : ordered_json(program.since_utc_ns)},
            {"trace", program.trace.empty() ? ordered_json() : ordered_json(program.trace)},
            {"events", program.events},
            {"file_bytes", program.bytes},
            {"recording_cost", or_null(program.cost)}};
}

Status run_ps(const std::string& format, const Words& words) {
    const auto programs = recorded_programs();
    if (!programs) {
        return programs.error();
    }
    if (format == "json") {
        auto list = ordered_json::array();
        for (const RecordedProgram& program : *programs) {
            list.push_back(program_json(program));
        }
        return print_json(list);
    }
    if (programs->empty()) {
        print_note(words, words("no program of this user is being recorded on this machine."));
    }
    std::string text;
    for (const RecordedProgram& program : *programs) {
        text += program_text(program, words);
    }
    return print(text);
}

}  // namespace

void add_ps_command(CommandLine& line) {
    const Words& words = line.words;
    auto format = std::make_shared<std::string>("text");
    CLI::App& command = add_command(
        line, "ps",
        {words("List the recorded programs of this user on this machine"),
         words("Lists each process with its state, the begin of the recording, the events, the size of the trace and\n"
               "what the recording costs. Programs that wait for `tidemark resume` or `tidemark attach` are listed,\n"
               "too."),
         "  tidemark ps\n"
         "  tidemark ps --format json"});
    add_format_option(command, words("Output format"), *format, {"text", "json"});
    set_work(line, command, [format, words](Progress&) { return run_ps(*format, words); });
}

}  // namespace tidemark::cli
