// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>

#include "recorder/cli/doctor/doctor.h"
#include "recorder/driver/cupti_places.h"
#include "storage/base/shell_word.h"

namespace tidemark::cli {
namespace {

namespace fs = std::filesystem;

/// Examines one Python.
class PythonDoctor {
public:
    PythonDoctor(const PythonFacts& facts, const RecorderHome& home, const Surroundings& surroundings,
                 const Words& words)
        : facts_(facts), home_(home), surroundings_(surroundings), words_(words) {}

    ExaminedPart python() const;
    ExaminedPart torch() const;
    ExaminedPart plugin() const;
    ExaminedPart cupti() const;
    ExaminedPart trial() const;

private:
    bool is_in_conda() const { return facts_["environment"] == "conda"; }
    std::string name_of_environment() const;
    ExaminedPart plugin_to_build(ExaminedPart part) const;
    std::string command_for_torch() const;
    std::string fix_of_compiler() const;
    std::string find_cupti() const;

    const PythonFacts& facts_;
    const RecorderHome& home_;
    const Surroundings& surroundings_;
    const Words& words_;
};

/// "virtual environment /home/anna/env"
std::string PythonDoctor::name_of_environment() const {
    const std::string environment = facts_["environment"];
    const auto prefix = with("folder", facts_["prefix"]);
    return environment == "conda"  ? words_("conda environment {folder}", prefix)
           : environment == "venv" ? words_("virtual environment {folder}", prefix)
                                   : "";
}

ExaminedPart PythonDoctor::python() const {
    ExaminedPart part{"python", "Python", Need::wanted, false, words_("not found"), ""};
    if (facts_.empty()) {
        part.fix = words_("Begin the program's command with its Python.");
        return part;
    }
    part.text = facts_["python"] + words_(", ") + facts_["executable"];
    if (const std::string environment = name_of_environment(); !environment.empty()) {
        part.text += words_(", ") + environment;
    }
    if (const std::string program = facts_["instead_of"]; !program.empty()) {
        part.text += words_("; {program} may start another Python", with("program", program));
    }
    if (const std::string failure = facts_["failure"]; !failure.empty()) {
        part.fix = words_("The recorder's package does not work with this Python ({failure}). Use Python 3.10 to 3.14.",
                          with("failure", failure));
    } else if (const std::string reason = facts_["stacks"]; !reason.empty()) {
        part.fix = words_("Python stacks are not recorded: {reason}.", with("reason", reason));
    } else {
        part.is_fine = true;
    }
    return part;
}

std::string PythonDoctor::command_for_torch() const {
    const std::string python = shell_word(facts_["executable"]);
    return is_in_conda() ? fmt::format("conda install -p {} -c conda-forge pytorch-gpu", shell_word(facts_["prefix"]))
           : facts_["environment"] == "venv"
               ? python + " -m pip install torch"
               : python + " -m venv env && env/bin/pip install torch";  // distributions guard their own Python
}

ExaminedPart PythonDoctor::torch() const {
    const std::string version = facts_["torch"], cuda = facts_["cuda"];
    ExaminedPart part{"torch", "PyTorch", Need::wanted, false, words_("not found"), ""};
    if (version.empty()) {
        part.fix = facts_.empty() ? words_("Begin the program's command with its Python.")
                                  : words_("Install it, or begin the command with a Python that has it: {command}",
                                           with("command", command_for_torch()));
    } else if (cuda.empty()) {
        part.text = words_("{version}, not for CUDA", with("version", version));
        part.fix = words_("Install a PyTorch that is built for CUDA: see pytorch.org.");
    } else {
        part.text = words_("{version} for CUDA {cuda}", with("version", version), with("cuda", cuda));
        part.is_fine = true;
    }
    return part;
}

ExaminedPart PythonDoctor::plugin() const {
    const std::string state = facts_["plugin_state"], plugin = facts_["plugin"];
    ExaminedPart part{"plugin", words_("Plugin"), Need::wanted, false, "", ""};
    if (state == "brought") {
        part.text = words_("{plugin} came with Tidemark", with("plugin", fs::path(plugin).filename().string()));
    } else if (state == "built") {
        part.text = words_("built already: {plugin}", with("plugin", plugin));
    } else if (state == "to_build") {
        return plugin_to_build(std::move(part));
    } else if (state == "unsupported") {
        part.text = words_("none for PyTorch {version}", with("version", facts_["torch"]));
        part.fix = words_("PyTorch's own memory history is recorded instead. Use PyTorch 2.4 or newer.");
    } else if (state == "unsafe") {
        part.text = words_("not usable");
        part.fix = plugin;
    }
    part.is_fine = part.fix.empty();
    return part;
}

ExaminedPart PythonDoctor::plugin_to_build(ExaminedPart part) const {
    const std::string compiler = facts_["compiler"], headers = facts_["cuda_headers"];
    if (compiler.empty()) {
        part.text = words_("must be built for this PyTorch, once, and there is no C++ compiler");
        part.fix = fix_of_compiler();
    } else if (headers.empty()) {
        part.text = words_("must be built for this PyTorch, once, and there are no CUDA headers");
        part.fix = facts_["cuda_headers_fix"];
    } else {
        part.text = words_("will be built for this PyTorch, once, in about 30 s: {compiler}, headers in {folder}",
                           with("compiler", compiler), with("folder", headers));
        part.is_fine = true;
    }
    return part;
}

std::string PythonDoctor::fix_of_compiler() const {
    return is_in_conda() ? fmt::format("conda install -p {} -c conda-forge gxx_linux-64", shell_word(facts_["prefix"]))
           : surroundings_.has_apt ? "apt-get install g++"
                                   : words_("Install g++.");
}

std::string PythonDoctor::find_cupti() const {
    for (const std::string& place : recorder::cupti_places(facts_["torch_lib"])) {
        std::error_code error;
        if (place.find('/') != place.npos) {
            if (fs::exists(place, error)) {
                return fs::path(place).lexically_normal().string();
            }
        } else if (void* library = dlopen(place.c_str(), RTLD_LAZY)) {
            dlclose(library);
            return place;
        }
    }
    return {};
}

ExaminedPart PythonDoctor::cupti() const {
    ExaminedPart part{"cupti", "CUPTI", Need::wanted, false, find_cupti(), ""};
    if (part.text.empty()) {
        part.text = words_("not found");
        part.fix = words_(
            "PyTorch for CUDA and the CUDA Toolkit contain it; TIDEMARK_CUPTI may name it. "
            "Without it, memory outside the caching allocator is not recorded.");
    } else {
        part.fix = conflict_of_driver_part(home_, words_);
    }
    part.is_fine = part.fix.empty();
    return part;
}

ExaminedPart PythonDoctor::trial() const {
    const std::string failure = facts_["trial"];
    return failure.empty()
               ? ExaminedPart{"trial",
                              words_("Trial"),
                              Need::wanted,
                              true,
                              words_("the plugin recorded a small program on the CPU"),
                              ""}
               : ExaminedPart{"trial", words_("Trial"), Need::wanted, false, words_("the plugin failed"), failure};
}

}  // namespace

std::vector<ExaminedPart> examine_python(const PythonFacts& facts, const RecorderHome& home,
                                         const Surroundings& surroundings, const Words& words) {
    const PythonDoctor doctor(facts, home, surroundings, words);
    std::vector<ExaminedPart> parts{doctor.python(), doctor.torch()};
    if (facts.has("plugin_state")) {
        parts.push_back(doctor.plugin());
    }
    parts.push_back(doctor.cupti());
    if (facts.has("trial")) {
        parts.push_back(doctor.trial());
    }
    return parts;
}

}  // namespace tidemark::cli
