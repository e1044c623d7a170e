// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// tidemark doctor: whether recording works here, and the command that mends what is missing.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>

#include "recorder/cli/command.h"
#include "recorder/cli/doctor/doctor.h"
#include "recorder/cli/output.h"
#include "recorder/core/python_options.h"
#include "storage/base/exit_status.h"

namespace tidemark::cli {
namespace {

using nlohmann::ordered_json;

struct DoctorOptions {
    Arguments command;
    std::string output = "run.tide", format = "text";
    bool with_trial = false;
};

enum class Works : uint8_t { yes, partly, no };

std::string_view works_word(Works works) {
    switch (works) {
        case Works::yes: return "yes";
        case Works::partly: return "partly";
        case Works::no: return "no";
    }
    return {};
}

std::vector<ExaminedPart> examine(const DoctorOptions& options, const RecorderHome& home, const Words& words) {
    const Surroundings surroundings = find_surroundings();
    const PythonFacts facts = ask_python(options.command, home, options.with_trial);
    std::vector<ExaminedPart> parts = examine_recorder(home, surroundings, words);
    std::ranges::move(examine_python(facts, home, surroundings, words), std::back_inserter(parts));
    std::ranges::move(examine_machine(options.output, surroundings, words), std::back_inserter(parts));
    return parts;
}

/// A program is recorded through PyTorch, through CUPTI, or both.
Works conclude(const std::vector<ExaminedPart>& parts) {
    const auto lacks = [&](auto&& is_meant) {
        return std::any_of(parts.begin(), parts.end(),
                           [&](const ExaminedPart& part) { return !part.is_fine && is_meant(part); });
    };
    const auto lacks_part = [&](std::string_view name) {
        return lacks([name](const ExaminedPart& part) { return part.name == name; });
    };
    const bool has_source = !lacks_part("torch") || !lacks_part("cupti");
    if (!has_source || lacks([](const ExaminedPart& part) { return part.need == Need::necessary; })) {
        return Works::no;
    }
    return lacks([](const ExaminedPart& part) { return part.need == Need::wanted; }) ? Works::partly : Works::yes;
}

std::string mark_of(const ExaminedPart& part, const Words& words) {
    return part.is_fine ? words("ok") : part.need == Need::optional ? words("optional") : words("missing");
}

std::string text_of(const std::vector<ExaminedPart>& parts, const Words& words) {
    std::string text;
    for (const ExaminedPart& part : parts) {
        text += fmt::format("{:<10}{:<14}{}\n", mark_of(part, words), part.title, visible_text(part.text));
        if (!part.fix.empty()) {
            text += fmt::format("{:<10}{:<14}{}\n", "", "", visible_text(part.fix));
        }
    }
    const Works works = conclude(parts);
    return text + '\n' +
           (works == Works::yes      ? words("Recording works here.")
            : works == Works::partly ? words("Recording works here, but not all parts.")
                                     : words("Recording does not work here.")) +
           '\n';
}

ordered_json json_of(const std::vector<ExaminedPart>& parts, const RecorderHome& home) {
    auto list = ordered_json::array();
    for (const ExaminedPart& part : parts) {
        list.push_back({{"name", part.name},
                        {"title", part.title},
                        {"ok", part.is_fine},
                        {"optional", part.need == Need::optional},
                        {"text", part.text},
                        {"fix", part.fix}});
    }
    return {{"works", works_word(conclude(parts))}, {"home", home.folder}, {"parts", std::move(list)}};
}

Status run_doctor(const DoctorOptions& options, const Words& words, int& exit_code) {
    if (!options.command.empty() && !recorder::is_python(options.command.front())) {
        TIDEMARK_TRY(can_be_started(options.command.front()));
    }
    const RecorderHome home = find_recorder_home();
    const std::vector<ExaminedPart> parts = examine(options, home, words);
    exit_code = conclude(parts) == Works::no ? exit_environment : exit_success;
    return options.format == "json" ? print_json(json_of(parts, home)) : print(text_of(parts, words));
}

}  // namespace

void add_doctor_command(CommandLine& line) {
    const Words& words = line.words;
    auto options = std::make_shared<DoctorOptions>();
    CLI::App& command = add_command(
        line, "doctor",
        {words("Show what can be recorded here, what is missing, and how to mend it"),
         words("Examines the recorder, the GPU's driver, the Python of a program, its PyTorch, the recorder's plugin\n"
               "for it, CUPTI, the system calls that the recorder needs, and the folder of the trace. Without a\n"
               "program, examines the first Python of PATH. `optional` parts are for other commands. The exit status\n"
               "is 0 if recording works, even if a part of it lacks, else 4."),
         "  tidemark doctor\n"
         "  tidemark doctor -- python train.py\n"
         "  tidemark doctor --trial -- /opt/env/bin/python\n"
         "  srun --gres=gpu:1 tidemark doctor -o /shared/run.tide"});
    command.add_option("-o,--output", options->output, words("The trace that you want to write"))
        ->capture_default_str();
    command.add_flag("--trial", options->with_trial,
                     words("Also record a small program on the CPU, which builds the plugin if necessary"));
    add_format_option(command, words("Output format"), options->format, {"text", "json"});
    command.add_option("COMMAND", options->command, words("The program and its arguments, after --"));
    command.positionals_at_end();
    set_work(line, command, [options, words, &exit_code = line.exit_code](Progress&) {
        return run_doctor(*options, words, exit_code);
    });
}

}  // namespace tidemark::cli
