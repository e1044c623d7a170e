// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "tests/hostile/sandbox.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <string_view>
#include <system_error>

namespace tidemark::hostile {

namespace {

constexpr size_t most_readings = 128;
constexpr int wall_factor = 30;  // a machine with other work is slow; a reading that waits for nothing ends too

/// Written by the child, read by the parent.
struct Report {
    size_t begun = 0;
    Reported reported;
    int64_t bytes_at_start = 0;  ///< which the child shares with its parent
    Outcome outcomes[most_readings];
};

Report* share_report() {
    void* memory = mmap(nullptr, sizeof(Report), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        throw std::system_error(errno, std::generic_category(), "mmap");
    }
    return new (memory) Report;
}

std::string content_of(int file) {
    std::string text;
    char buffer[65536];
    lseek(file, 0, SEEK_SET);
    for (ssize_t n; (n = read(file, buffer, sizeof buffer)) > 0;) {
        text.append(buffer, static_cast<size_t>(n));
    }
    return text;
}

int64_t bytes_now() {
    long pages = 0, resident = 0;
    std::FILE* file = std::fopen("/proc/self/statm", "r");
    const bool read = file != nullptr && std::fscanf(file, "%ld %ld", &pages, &resident) == 2;
    if (file != nullptr) {
        std::fclose(file);
    }
    return read ? resident * sysconf(_SC_PAGESIZE) : 0;
}

void empty(int file) {
    (void)!ftruncate(file, 0);
    lseek(file, 0, SEEK_SET);
}

void limit_time(int seconds) {
    itimerval timer{};
    timer.it_value.tv_sec = seconds;
    setitimer(ITIMER_PROF, &timer, nullptr);
    alarm(static_cast<unsigned>(seconds) * wall_factor);
}

void limit_memory(int64_t bytes) {
    const rlimit none{0, 0};
    setrlimit(RLIMIT_CORE, &none);
    if (bytes > 0) {
        const rlimit limit{static_cast<rlim_t>(bytes), static_cast<rlim_t>(bytes)};
        setrlimit(RLIMIT_AS, &limit);
    }
}

/// Ends the limit that a command set for its process: here the next command runs in the same one.
void lift_limit_of_command() {
    rlimit limit{};
    if (getrlimit(RLIMIT_DATA, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_DATA, &limit);
    }
}

}  // namespace

struct Sandbox::State {
    Report* report = share_report();
    int output = memfd_create("stdout", MFD_CLOEXEC), errors = memfd_create("stderr", MFD_CLOEXEC);
    pid_t pid = 0;

    State() = default;
    State(const State&) = delete;
    State& operator=(const State&) = delete;
    ~State() {
        munmap(report, sizeof(Report));
        close(output);
        close(errors);
    }

    void run(const Reading& reading, const Paths& paths, const Limits& limits, Outcome& outcome) const {
        empty(output);
        empty(errors);
        limit_time(limits.seconds);
        lift_limit_of_command();
        outcome.status = reading.run(paths);
        std::fflush(nullptr);
        outcome.output_hash = std::hash<std::string>()(content_of(output));
        outcome.silent = content_of(errors).empty();
        outcome.ended = true;
    }

    [[noreturn]] void run_all(std::span<const Reading> readings, const Paths& paths, const Limits& limits) const {
        dup2(output, STDOUT_FILENO);
        dup2(errors, STDERR_FILENO);
        report->bytes_at_start = bytes_now();
        limit_memory(limits.hard_bytes);
        (void)!chdir(paths.scratch.c_str());
        for (const Reading& reading : readings.first(std::min(readings.size(), most_readings))) {
            Outcome& outcome = report->outcomes[report->begun++];
            run(reading, paths, limits, outcome);
            if (reading.required && outcome.status != 0) {
                _exit(0);
            }
        }
        report->reported = reported_by(paths.trace);
        _exit(0);
    }
};

Sandbox::Sandbox(std::span<const Reading> readings, const Paths& paths, const Limits& limits)
    : state_(std::make_unique<State>()) {
    std::fflush(nullptr);
    state_->pid = fork();
    if (state_->pid == 0) {
        state_->run_all(readings, paths, limits);
    }
    if (state_->pid < 0) {
        throw std::system_error(errno, std::generic_category(), "fork");
    }
}

Sandbox::Sandbox(Sandbox&&) noexcept = default;
Sandbox& Sandbox::operator=(Sandbox&&) noexcept = default;
Sandbox::~Sandbox() = default;

pid_t Sandbox::pid() const { return state_->pid; }

Try Sandbox::finish(int status, int64_t peak_kib) const {
    Try result;
    const Report& report = *state_->report;
    result.outcomes.assign(report.outcomes, report.outcomes + report.begun);
    result.reported = report.reported;
    result.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    result.exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
    result.grown_bytes = peak_kib * 1024 - report.bytes_at_start;
    result.errors = content_of(state_->errors);
    return result;
}

Try Sandbox::wait() const {
    int status = 0;
    rusage usage{};
    wait4(state_->pid, &status, 0, &usage);
    return finish(status, usage.ru_maxrss);
}

bool is_sanitized() {
#ifdef __SANITIZE_ADDRESS__
    return true;
#elif defined(__has_feature)
    return __has_feature(address_sanitizer);
#else
    return false;
#endif
}

}  // namespace tidemark::hostile
