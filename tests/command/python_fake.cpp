// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Stands for a Python 3.14 in tests of `tidemark attach`: its version, and sys.remote_exec.
//
// python_fake SECONDS: a program that runs the script which another process injects, by becoming a real Python.
// python_fake -I -S -c CODE [PID SCRIPT]: the interpreter that the command calls. Prints the version, or injects the
// script. FAKE_FOLDER: for injected scripts. FAKE_PYTHON: the real Python. FAKE_REFUSAL: the error of sys.remote_exec.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

namespace {

std::string variable(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
}

std::string path_for(const std::string& pid) { return variable("FAKE_FOLDER") + "/inject." + pid; }

int interpret(const std::string& code, int count, char** words) {
    if (code.find("remote_exec(") == std::string::npos) {
        std::puts("3.14 1");
    } else if (const std::string refusal = variable("FAKE_REFUSAL"); !refusal.empty() || count < 7) {
        std::printf("%s", refusal.c_str());
    } else {
        const std::string path = path_for(words[5]);
        std::ofstream(path + ".new") << words[6];
        std::rename((path + ".new").c_str(), path.c_str());
        std::printf("accepted");
    }
    return 0;
}

int run(int tenths) {
    for (; tenths > 0; --tenths) {
        std::string script;
        if (std::ifstream(path_for(std::to_string(getpid()))) >> script) {
            const std::string python = variable("FAKE_PYTHON");
            const std::string code = "exec(open('" + script + "').read())\nimport time\ntime.sleep(60)";
            execl(python.c_str(), python.c_str(), "-c", code.c_str(), nullptr);
        }
        usleep(100'000);
    }
    return 0;
}

}  // namespace

int main(int count, char** words) {
    return count > 4 && std::string(words[3]) == "-c" ? interpret(words[4], count, words)
                                                      : run(count > 1 ? 10 * std::atoi(words[1]) : 600);
}
