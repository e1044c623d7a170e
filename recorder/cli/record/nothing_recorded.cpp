// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/cli/record/nothing_recorded.h"

#include <algorithm>

#include "recorder/cli/doctor/python_facts.h"
#include "recorder/core/python_options.h"
#include "storage/base/utf8.h"

namespace tidemark::cli {
namespace {

/// Returns the option by which the Python of this command ignored the startup hook; empty if there is none.
std::string option_of(const Arguments& command) {
    if (recorder::is_python(command.front())) {
        return recorder::option_against_hook(command);
    }
    const Arguments interpreter = interpreter_of(find_program(command.front()));
    return recorder::option_against_hook(interpreter);
}

std::string why_no_hook(const Arguments& command, const RecorderHome& home, const Words& words) {
    if (const std::string option = option_of(command); !option.empty()) {
        return words(
            "there is no trace: Python was started with {option}, so it ignored the recorder's startup hook. Start it "
            "without {option}, or call tidemark.record() in the program, with {folder} in sys.path.",
            with("option", option), with("folder", visible_text(home.part("python"))));
    }
    return words(
        "no process used the GPU as far as the recorder knows, so there is no trace. No Python ran the recorder's "
        "startup hook: the program is not Python, its Python was started with -I, -E or -S, or a program between "
        "(sudo, "
        "ssh, docker, env -i) did not pass PYTHONPATH and the TIDEMARK variables on. `tidemark record` must run inside "
        "such a program. Programs that are not Python are recorded through CUPTI: `tidemark doctor` shows "
        "whether it works.");
}

}  // namespace

std::string why_nothing_recorded(const Arguments& command, const RecorderHome& home,
                                 const std::vector<PythonProcess>& processes, const Words& words) {
    const auto any = [&](bool PythonProcess::*fact) {
        return std::any_of(processes.begin(), processes.end(), [fact](const auto& process) { return process.*fact; });
    };
    if (processes.empty()) {
        return why_no_hook(command, home, words);
    }
    if (!any(&PythonProcess::imported_torch)) {
        return words(
            "no process used the GPU as far as the recorder knows, so there is no trace. Python did not import "
            "PyTorch; "
            "other libraries are recorded through CUPTI. `tidemark doctor` shows what is missing here.");
    }
    if (!any(&PythonProcess::initialized_cuda)) {
        return words(
            "no process used the GPU, so there is no trace. PyTorch was imported but never initialized CUDA, so the "
            "program ran on the CPU. Check torch.cuda.is_available(), and that the program moves its model to the "
            "GPU.");
    }
    return words(
        "there is no trace, although PyTorch initialized CUDA: the recorder did not start. Its messages above name the "
        "cause.");
}

}  // namespace tidemark::cli
