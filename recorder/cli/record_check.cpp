// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/cli/record_check.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "recorder/cli/output.h"
#include "recorder/driver/cupti_places.h"
#include "recorder/driver/nvml.h"

namespace tidemark::cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using nlohmann::ordered_json;

constexpr int python_seconds = 20;

/// Prints facts about a Python as JSON. Reads torch's version from its file, because importing torch takes seconds.
/// Argument: the recorder's home, whose Python package finds CUDA headers, and which may have a plugin for this torch.
constexpr const char* python_facts_script = R"(
import glob, importlib.util, json, os, platform, runpy, sys
facts = {"python": platform.python_version(), "executable": sys.executable}
site_packages = ""
spec = importlib.util.find_spec("torch")
if spec is not None and spec.origin:
    package = os.path.dirname(spec.origin)
    version = runpy.run_path(os.path.join(package, "version.py"))
    facts["torch"] = version["__version__"]
    facts["cuda"] = version.get("cuda")
    facts["torch_lib"] = os.path.join(package, "lib")
    name = f"plugin-{version['__version__'].split('+')[0]}-{(version.get('git_version') or 'none')[:12]}*.so"
    facts["plugin"] = ", ".join(glob.glob(os.path.join(sys.argv[1], "plugins", name)))
    site_packages = os.path.dirname(package)
headers_module = os.path.join(sys.argv[1], "python", "tidemark", "_cuda_headers.py")
if os.path.exists(headers_module):
    headers = runpy.run_path(headers_module)
    cuda = facts.get("cuda") or ""
    facts["cuda_headers"] = ", ".join(headers["find"](site_packages, cuda))
    facts["cuda_headers_fix"] = headers["fix"](cuda)
print(json.dumps(facts))
)";

std::string text_of(const json& facts, const char* key) {
    const auto found = facts.find(key);
    return found != facts.end() && found->is_string() ? found->get<std::string>() : "";
}

/// Returns the Python of the command as a command; empty if there is none.
Arguments python_of(const Arguments& command) {
    if (!command.empty()) {
        const std::string program = find_program(command.front());
        if (fs::path(command.front()).filename().string().starts_with("python")) {
            return program.empty() ? Arguments{} : Arguments{program};
        }
        if (Arguments interpreter = interpreter_of(program); !interpreter.empty()) {
            return interpreter;
        }
    }
    const std::string python = find_python();
    return python.empty() ? Arguments{} : Arguments{python};
}

json facts_of_python(Arguments python, const RecorderHome& home) {
    if (python.empty()) {
        return json::object();
    }
    python.insert(python.end(), {"-c", python_facts_script, check_can_record(home) ? home.folder : ""});
    const json facts = json::parse(output_of(python, python_seconds), nullptr, false);
    return facts.is_object() ? facts : json::object();
}

CheckedPart check_home(const RecorderHome& home, const Words& words) {
    if (home.missing.empty()) {
        const Status usable = check_can_record(home);
        return {"recorder", words("Recorder"), usable.has_value(),
                usable ? home.folder : words.translate(usable.error().sentence), ""};
    }
    return {"recorder", words("Recorder"), false,
            words("{folder} lacks {parts}", with("folder", home.folder),
                  with("parts", fmt::format("{}", fmt::join(home.missing, ", ")))),
            words("Reinstall Tidemark, or set TIDEMARK_HOME to the folder lib/tidemark of an installation.")};
}

CheckedPart check_gpu(const Words& words) {
    const auto nvml = recorder::Nvml::load();
    if (nvml) {
        return {"gpu", words("GPU driver"), true,
                words("NVIDIA driver {version}", with("version", nvml->driver_version())), ""};
    }
    return {"gpu", words("GPU driver"), false, words("no answer"), words.translate(nvml.error().sentence)};
}

CheckedPart check_python(const json& facts, const Words& words) {
    if (facts.contains("python")) {
        return {"python", "Python", true, text_of(facts, "python") + words(", ") + text_of(facts, "executable"), ""};
    }
    return {"python", "Python", false, words("not found"),
            words("Name the Python of the program: tidemark record --check -- PYTHON.")};
}

CheckedPart check_torch(const json& facts, const Words& words) {
    const std::string version = text_of(facts, "torch"), cuda = text_of(facts, "cuda");
    if (version.empty()) {
        return {"torch", "PyTorch", false, words("not found"),
                words("Install PyTorch for CUDA into this Python, or name another Python after --.")};
    }
    if (cuda.empty()) {
        return {"torch", "PyTorch", false, words("{version}, not for CUDA", with("version", version)),
                words("Install a PyTorch that is built for CUDA: see pytorch.org.")};
    }
    return {"torch", "PyTorch", true, words("{version} for CUDA {cuda}", with("version", version), with("cuda", cuda)),
            ""};
}

CheckedPart not_needed(const json& facts, const char* name, const std::string& title, const Words& words) {
    return {name, title, true,
            words("not needed: {plugin} is for this PyTorch",
                  with("plugin", fs::path(text_of(facts, "plugin")).filename().string())),
            ""};
}

CheckedPart check_compiler(const json& facts, const Words& words) {
    const char* selected = std::getenv("CXX");
    std::string found;
    if (selected != nullptr && *selected != '\0') {
        found = selected;
    }
    for (const char* name : {"c++", "g++", "clang++"}) {
        found = found.empty() ? find_program(name) : found;
    }
    if (!found.empty()) {
        return {"compiler", words("C++ compiler"), true, found, ""};
    }
    if (!text_of(facts, "plugin").empty()) {
        return not_needed(facts, "compiler", words("C++ compiler"), words);
    }
    return {"compiler", words("C++ compiler"), false, words("not found"),
            words("Install g++: the plugin of the recorder is built once for the PyTorch in use.")};
}

CheckedPart check_cuda_headers(const json& facts, const Words& words) {
    if (const std::string folder = text_of(facts, "cuda_headers"); !folder.empty()) {
        return {"cuda_headers", words("CUDA headers"), true, folder, ""};
    }
    if (!text_of(facts, "plugin").empty()) {
        return not_needed(facts, "cuda_headers", words("CUDA headers"), words);
    }
    const std::string known = text_of(facts, "cuda_headers_fix");
    const std::string fix = known.empty() ? "install the CUDA Toolkit and set CUDA_HOME" : known;
    return {"cuda_headers", words("CUDA headers"), false, words("not found"),
            words("PyTorch's headers need them to build the plugin: {fix}.", with("fix", fix))};
}

std::string find_cupti(const json& facts) {
    for (const std::string& place : recorder::cupti_places(text_of(facts, "torch_lib"))) {
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

CheckedPart check_cupti(const json& facts, const Words& words) {
    if (const std::string place = find_cupti(facts); !place.empty()) {
        return {"cupti", "CUPTI", true, place, ""};
    }
    return {"cupti", "CUPTI", false, words("not found"),
            words("PyTorch for CUDA and the CUDA Toolkit contain it; TIDEMARK_CUPTI may name it. Without it, memory "
                  "outside the caching allocator is not recorded.")};
}

}  // namespace

Arguments interpreter_of(const std::string& script) {
    std::string line;
    std::ifstream file(script);
    if (!std::getline(file, line) || !line.starts_with("#!") || line.find("python") == line.npos) {
        return {};
    }
    Arguments words;
    std::istringstream rest(line.substr(2));
    for (std::string word; rest >> word;) {
        words.push_back(word);
    }
    return words;
}

const CheckedPart& RecordCheck::part(std::string_view name) const {
    return *std::find_if(parts.begin(), parts.end(), [&](const CheckedPart& part) { return part.name == name; });
}

const char* RecordCheck::works() const {
    if (!home.can_record || !part("gpu").fine || (!part("torch").fine && !part("cupti").fine)) {
        return "no";
    }
    return std::all_of(parts.begin(), parts.end(), [](const CheckedPart& part) { return part.fine; }) ? "yes"
                                                                                                      : "partly";
}

RecordCheck check_recording(const Arguments& command, const Words& words) {
    RecordCheck check{find_recorder_home(), {}};
    const json facts = facts_of_python(python_of(command), check.home);
    check.parts = {check_home(check.home, words), check_gpu(words),
                   check_python(facts, words),    check_torch(facts, words),
                   check_compiler(facts, words),  check_cuda_headers(facts, words),
                   check_cupti(facts, words)};
    return check;
}

std::string check_text(const RecordCheck& check, const Words& words) {
    std::string text;
    for (const CheckedPart& part : check.parts) {
        text += fmt::format("{:<8}{:<14}{}{}{}\n", part.fine ? words("ok") : words("missing"), part.title,
                            visible_text(part.text), part.fix.empty() ? "" : words(". "), visible_text(part.fix));
    }
    const std::string_view works = check.works();
    return text + '\n' +
           (works == "yes"      ? words("Recording works here.")
            : works == "partly" ? words("Recording works here, but not all parts.")
                                : words("Recording does not work here.")) +
           '\n';
}

ordered_json check_json(const RecordCheck& check) {
    auto parts = ordered_json::array();
    for (const CheckedPart& part : check.parts) {
        parts.push_back(
            {{"name", part.name}, {"title", part.title}, {"ok", part.fine}, {"text", part.text}, {"fix", part.fix}});
    }
    return {{"works", check.works()}, {"home", check.home.folder}, {"parts", std::move(parts)}};
}

}  // namespace tidemark::cli
