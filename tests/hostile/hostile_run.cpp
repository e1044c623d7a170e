// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Reads damaged copies of example files with everything that reads files, each copy in a process of its own.
// README.md in this folder describes the options.
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>

#include "tests/hostile/judge.h"
#include "tests/hostile/seal.h"
#include "tests/hostile/trace_mutator.h"

namespace {

using namespace tidemark::hostile;
namespace fs = std::filesystem;

struct Options {
    std::vector<std::string> examples;
    std::string only;
    fs::path output = "hostile-failures";
    uint64_t mutants = 100, flips = 100, seed = 1;
    int jobs = 1, seconds = 5;
    int64_t limit_mb = 0;
};

enum class Mode : uint8_t { original, structure, structure_sealed, flips };
constexpr const char* mode_names[] = {"original", "structure", "sealed", "flips"};

Bytes content_of(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return Bytes(std::istreambuf_iterator<char>(file), {});
}

void write(const fs::path& path, const Bytes& bytes) {
    std::ofstream(path, std::ios::binary | std::ios::trunc)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

bool is_trace(const Bytes& bytes) {
    constexpr std::string_view magic = "SQLite format 3";
    return bytes.size() > magic.size() && std::equal(magic.begin(), magic.end(), bytes.begin());
}

/// An example file, and what reading it undamaged did.
struct Example {
    fs::path path;
    Bytes bytes;
    bool trace = false;
    std::vector<Reading> readings;
    Expectation expected;
};

struct Task {
    const Example* example;
    Mode mode;
    uint64_t seed;
};

Mutant make_mutant(const Task& task, uint64_t most = all_changes) {
    const Bytes& bytes = task.example->bytes;
    switch (task.mode) {
        case Mode::original: return {bytes, "nothing"};
        case Mode::flips: return flip_bytes(bytes, task.seed, most);
        default: break;
    }
    return task.example->trace
               ? mutate_trace(bytes, task.seed,
                              task.mode == Mode::structure_sealed ? Sealing::renewed : Sealing::broken, most)
               : mutate_pickle(bytes, task.seed, most);
}

/// A folder in memory with the files of one child.
class Scratch {
public:
    Scratch(const Example& example, const Mutant& mutant)
        : folder_(fs::path("/dev/shm") / fmt::format("hostile-{}-{}", getpid(), ++count_)) {
        fs::create_directories(folder_);
        paths_.scratch = folder_.string();
        paths_.file = example.trace ? "file.tide" : "file.pickle";
        paths_.trace = example.trace ? paths_.file : "imported.tide";
        // An imported trace is compared with itself: its original is not there before the import.
        paths_.original = example.trace ? fs::absolute(example.path).string() : paths_.trace;
        write(folder_ / paths_.file, mutant.bytes);
    }
    Scratch(Scratch&& other) noexcept : folder_(std::move(other.folder_)), paths_(std::move(other.paths_)) {
        other.folder_.clear();
    }
    Scratch& operator=(Scratch&&) = delete;
    ~Scratch() {
        if (!folder_.empty()) {
            std::error_code ignored;
            fs::remove_all(folder_, ignored);
        }
    }
    const Paths& paths() const { return paths_; }

private:
    static inline int count_ = 0;
    fs::path folder_;
    Paths paths_;
};

class Campaign {
public:
    explicit Campaign(Options options) : options_(std::move(options)) {}

    /// Returns the number of failures.
    int64_t run() {
        for (const std::string& path : options_.examples) {
            add_example(path);
        }
        run_all(tasks());
        print_table();
        return failed_;
    }

private:
    struct Running {
        Task task;
        Mutant mutant;
        Scratch scratch;
        Sandbox sandbox;
    };

    int64_t memory_for(size_t file_bytes) const {
        constexpr int64_t least = int64_t{256} << 20, per_byte = 40, sanitizer_factor = 4;
        const int64_t allowed = options_.limit_mb > 0 ? options_.limit_mb << 20
                                                      : std::max(least, static_cast<int64_t>(file_bytes) * per_byte);
        return allowed * (is_sanitized() ? sanitizer_factor : 1);
    }

    Limits limits_for(size_t file_bytes) const {
        constexpr int64_t code_and_stacks = int64_t{3} << 30;  // mapped, but hardly used
        return {options_.seconds, is_sanitized() ? 0 : 2 * memory_for(file_bytes) + code_and_stacks};
    }

    void add_example(const fs::path& path) {
        auto example = std::make_unique<Example>();
        example->path = path;
        example->bytes = content_of(path);
        example->trace = is_trace(example->bytes);
        example->readings = example->trace ? trace_readings() : snapshot_readings();
        std::erase_if(example->readings, [&](const Reading& reading) {
            return !reading.required && reading.name.find(options_.only) == std::string::npos;
        });
        examples_.push_back(std::move(example));
        Example& added = *examples_.back();
        added.expected.most_bytes = memory_for(added.bytes.size());
        Running running = start({&added, Mode::original, 0});
        const Try result = running.sandbox.wait();
        added.expected.original = result;
        added.expected.must_not_lie = false;
        examine(running, result);
        added.expected.must_not_lie = added.trace && is_sealed(added.bytes);
    }

    std::vector<Task> tasks() const {
        std::vector<Task> tasks;
        const auto add = [&](Mode mode, uint64_t i) {
            const Example& example = *examples_[i % examples_.size()];
            tasks.push_back({&example, mode, options_.seed * 1'000'003 + i});
        };
        for (uint64_t i = 0; i < options_.mutants; ++i) {
            add(i / examples_.size() % 2 == 0 ? Mode::structure : Mode::structure_sealed, i);
        }
        for (uint64_t i = 0; i < options_.flips; ++i) {
            add(Mode::flips, i);
        }
        return tasks;
    }

    Running start(const Task& task, uint64_t most = all_changes) {
        Mutant mutant = make_mutant(task, most);
        Scratch scratch(*task.example, mutant);
        Sandbox sandbox(task.example->readings, scratch.paths(), limits_for(mutant.bytes.size()));
        return {task, std::move(mutant), std::move(scratch), std::move(sandbox)};
    }

    void run_all(const std::vector<Task>& tasks) {
        std::map<pid_t, Running> running;
        for (size_t next = 0; next < tasks.size() || !running.empty();) {
            if (next < tasks.size() && running.size() < static_cast<size_t>(options_.jobs)) {
                Running started = start(tasks[next++]);
                const pid_t pid = started.sandbox.pid();
                running.emplace(pid, std::move(started));
                continue;
            }
            int status = 0;
            rusage usage{};
            const auto ended = running.find(wait4(-1, &status, 0, &usage));
            if (ended != running.end()) {
                examine(ended->second, ended->second.sandbox.finish(status, usage.ru_maxrss));
                running.erase(ended);
            }
        }
    }

    static std::optional<Failure> judge_task(const Task& task, const Try& result) {
        Expectation expected = task.example->expected;
        expected.must_not_lie &= task.mode != Mode::structure_sealed;  // whoever renews the seal may change the answer
        return judge(task.example->readings, result, expected);
    }

    void examine(const Running& running, const Try& result) {
        ++tried_;
        opened_ += result.reported.opened;
        if (const auto failure = judge_task(running.task, result)) {
            ++failed_;
            save(running, *failure, result.errors);
        }
    }

    /// Returns the mutant with the fewest changes that fails.
    Mutant smallest(const Running& running) {
        for (uint64_t most = 1; options_.jobs == 1 && running.task.mode != Mode::original && most < 4; ++most) {
            const Running again = start(running.task, most);
            if (judge_task(running.task, again.sandbox.wait())) {
                return again.mutant;
            }
        }
        return running.mutant;
    }

    void save(const Running& running, const Failure& failure, const std::string& errors) {
        const std::string key = fmt::format("{:<45} {}", failure.reading, failure.cause);
        Kind& kind = kinds_[key];
        if (++kind.count > most_saved) {
            return;
        }
        const Mutant mutant = smallest(running);
        const fs::path& path = running.task.example->path;
        const fs::path name = options_.output / fmt::format("{}-{}-{}{}", path.stem().string(),
                                                            mode_names[static_cast<size_t>(running.task.mode)],
                                                            running.task.seed, path.extension().string());
        fs::create_directories(options_.output);
        write(name, mutant.bytes);
        std::ofstream(name.string() + ".txt")
            << fmt::format("{}\n{}\n{}\n{}\n", failure.reading, failure.cause, mutant.changes, errors);
        kind.files.push_back(name.string());
        fmt::print("FAILED  {}\n        {}\n        {:.300}\n        {}\n", failure.reading, failure.cause,
                   mutant.changes, name.string());
        std::fflush(stdout);
    }

    void print_table() const {
        fmt::print("\n{} files read, {} of them opened, {} failures of {} kinds\n", tried_, opened_, failed_,
                   kinds_.size());
        for (const auto& [name, kind] : kinds_) {
            fmt::print("{:>6}  {}\n        {}\n", kind.count, name, fmt::join(kind.files, " "));
        }
    }

    struct Kind {
        int64_t count = 0;
        std::vector<std::string> files;
    };
    static constexpr int64_t most_saved = 3;  // of one kind

    Options options_;
    int64_t tried_ = 0, opened_ = 0, failed_ = 0;
    std::vector<std::unique_ptr<Example>> examples_;
    std::map<std::string, Kind> kinds_;
};

}  // namespace

int main(int argc, char** argv) {
    Options options;
    CLI::App app("Reads damaged copies of example files; nothing may crash, hang, need much memory, or lie.");
    app.add_option("EXAMPLE", options.examples, "Traces and PyTorch snapshots")->required()->check(CLI::ExistingFile);
    app.add_option("--mutants", options.mutants, "Copies with changed structure")->capture_default_str();
    app.add_option("--flips", options.flips, "Copies with changed bytes")->capture_default_str();
    app.add_option("--seed", options.seed, "The same seed makes the same copies")->capture_default_str();
    app.add_option("--jobs", options.jobs, "Copies read at once")->capture_default_str()->check(CLI::PositiveNumber);
    app.add_option("--seconds", options.seconds, "CPU time of one reading")->capture_default_str();
    app.add_option("--limit-mb", options.limit_mb,
                   "Memory of a process, besides that of its code (default: 256, or 40 times the file)");
    app.add_option("--only", options.only, "Only readings whose names contain this text");
    app.add_option("-o,--output", options.output, "The folder for copies that failed")->capture_default_str();
    CLI11_PARSE(app, argc, argv);
    prepare_readings(argc, argv);
    return Campaign(options).run() == 0 ? 0 : 1;
}
