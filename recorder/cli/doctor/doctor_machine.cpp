// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "recorder/cli/doctor/doctor.h"
#include "recorder/cli/file_kind.h"
#include "recorder/cli/viewer.h"
#include "recorder/control/runtime_folder.h"
#include "storage/base/descriptor.h"
#include "storage/base/file_system.h"
#include "storage/base/scratch_folder.h"
#include "storage/base/system_reason.h"
#include "storage/base/units.h"
#include "storage/text/words.h"

namespace tidemark::cli {
namespace {

namespace fs = std::filesystem;

/// Returns 0, or the reason why a program cannot share memory with its recorder.
int reason_against_shared_memory() {
    const Descriptor file(::memfd_create("tidemark-doctor", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    return file ? 0 : errno;
}

/// Returns 0, or the reason why a program cannot read its own memory by address, as stacks and heap scans do.
int reason_against_reading() {
    int value = 1, copy = 0;
    const iovec local{&copy, sizeof copy}, remote{&value, sizeof value};
    return ::process_vm_readv(::getpid(), &local, 1, &remote, 1, 0) == sizeof value ? 0 : errno;
}

std::string fix_of_system_calls(const Surroundings& surroundings, const Words& words) {
    return surroundings.is_container
               ? words(
                     "Start the container without a filter of system calls: docker run --security-opt "
                     "seccomp=unconfined")
               : words("Run the program outside of the sandbox that forbids it.");
}

ExaminedPart examine_system_calls(const Surroundings& surroundings, const Words& words) {
    ExaminedPart part{"system_calls", words("System calls"), Need::necessary, false, "", ""};
    if (const int reason = reason_against_shared_memory(); reason != 0) {
        part.text = words("memfd_create fails: {reason}", with("reason", system_reason(reason)));
    } else if (const int reading = reason_against_reading(); reading != 0) {
        part.need = Need::wanted;  // without it, there are no stacks
        part.text = words("process_vm_readv fails: {reason}", with("reason", system_reason(reading)));
    } else {
        part.is_fine = true;
        part.text = words("shared memory and reading memory are permitted");
        return part;
    }
    part.fix = fix_of_system_calls(surroundings, words);
    return part;
}

ExaminedPart examine_runtime_folder(const Words& words) {
    const std::string folder = recorder::runtime_folder(::geteuid());
    const Status usable = recorder::check_runtime_folder(folder, ::geteuid());
    return {"runtime",          words("Sockets"), Need::wanted,
            usable.has_value(), folder,           usable ? "" : words.translate(usable.error().sentence)};
}

/// "/home/anna, 123 GiB free"
std::string text_of_room(const std::string& folder, int64_t room, const Words& words) {
    return folder + words(", ") + words("{bytes} free", with("bytes", format_bytes(room)));
}

/// Examines the folder of the trace, or the scratch folder in which it is recorded.
ExaminedPart examine_destination(const std::string& output, const Words& words) {
    constexpr int64_t enough_room = int64_t{1} << 30;  // a trace of some hours
    ExaminedPart part{"destination", words("Destination"), Need::necessary, false, "", ""};
    const std::string folder = fs::absolute(output).lexically_normal().parent_path().string();
    if (const Status writable = may_write_in(folder); !writable) {
        part.text = folder;
        part.fix = words.translate(writable.error().sentence);
        return part;
    }
    std::string place = folder;
    part.text = text_of_room(folder, free_bytes(folder), words);
    if (const auto reason = reason_for_scratch(output)) {
        const auto scratch = find_scratch_parent();
        if (!scratch) {
            part.text = words.translate(*reason);
            part.fix = words.translate(scratch.error().sentence);
            return part;
        }
        place = *scratch;
        part.text = words("recorded in {place} and moved at the end, because {reason}",
                          with("place", text_of_room(place, free_bytes(place), words)), with("reason", *reason));
    }
    part.need = Need::wanted;
    const int64_t room = free_bytes(place);
    if (room > 0 && room < enough_room) {
        part.fix = words("Long recordings need more room: free some, or limit the trace with --keep.");
    }
    part.is_fine = part.fix.empty();
    return part;
}

/// `tidemark attach` to a Python 3.14 writes into another process.
ExaminedPart examine_attach(const Words& words) {
    int scope = 0;
    std::ifstream("/proc/sys/kernel/yama/ptrace_scope") >> scope;
    if (scope == 0 || ::geteuid() == 0) {
        return {"attach", words("Attach"), Need::optional, true, words("permitted for programs of this user"), ""};
    }
    return {"attach",
            words("Attach"),
            Need::optional,
            false,
            words("ptrace is restricted (kernel.yama.ptrace_scope={scope})", with("scope", scope)),
            words("Only `tidemark attach` to Python 3.14 without the startup hook needs it: sudo sysctl "
                  "kernel.yama.ptrace_scope=0")};
}

bool has_display() {
    const auto is_set = [](const char* name) {
        const char* value = std::getenv(name);
        return value != nullptr && *value != '\0';
    };
    return is_set("DISPLAY") || is_set("WAYLAND_DISPLAY");
}

ExaminedPart examine_window(const Words& words) {
    const std::string window = find_viewer();
    ExaminedPart part{"window", words("Window"), Need::optional, !window.empty() && has_display(), window, ""};
    if (window.empty()) {
        part.text = words("{program} is not installed here", with("program", viewer));
    } else if (!has_display()) {
        part.text = words("{program}, but there is no display", with("program", window));
    }
    if (!part.is_fine) {
        part.fix = words("Open the trace on another machine, or read it here: tidemark explain run.tide");
    }
    return part;
}

}  // namespace

std::vector<ExaminedPart> examine_machine(const std::string& output, const Surroundings& surroundings,
                                          const Words& words) {
    return {examine_system_calls(surroundings, words), examine_runtime_folder(words),
            examine_destination(output, words), examine_attach(words), examine_window(words)};
}

}  // namespace tidemark::cli
