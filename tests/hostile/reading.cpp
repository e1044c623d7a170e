// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "tests/hostile/reading.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "recorder/cli/command_line.h"
#include "storage/base/exit_status.h"
#include "storage/graph/open_graph.h"
#include "storage/read/follow.h"
#include "storage/read/open_trace.h"
#include "storage/sqlite/sqlite.h"
#include "storage/tables/tables.h"
#include "storage/whatif/what_if.h"
#include "tests/hostile/views.h"

namespace tidemark::hostile {

namespace {

namespace fs = std::filesystem;

/// Runs a command line in which TRACE, FILE, ORIGINAL and OUT stand for paths.
int run_command(const std::string& line, const Paths& paths) {
    std::istringstream words("tidemark --language en " + line);
    std::vector<std::string> arguments;
    for (std::string word; words >> word;) {
        arguments.push_back(word == "TRACE"      ? paths.trace
                            : word == "FILE"     ? paths.file
                            : word == "ORIGINAL" ? paths.original
                            : word == "OUT"      ? "written.tide"
                                                 : word);
    }
    std::vector<char*> pointers;
    for (std::string& argument : arguments) {
        pointers.push_back(argument.data());
    }
    pointers.push_back(nullptr);
    return cli::run_command_line(static_cast<int>(arguments.size()), pointers.data());
}

Reading command(const std::string& line) {
    return {line, [line](const Paths& paths) { return run_command(line, paths); }};
}

Reading answer(const std::string& line) {
    Reading reading = command(line);
    reading.answers = true;
    return reading;
}

int report(const Error& error) {
    std::fprintf(stderr, "%s\n", error.sentence.english().c_str());
    return exit_status(error.kind);
}

/// Takes the mark of a clean end from a trace, after which a follower would not read on. Does nothing to other files.
void remove_end(const std::string& path) {
    if (auto connection = Connection::open(path, OpenMode::create)) {
        (void)connection->execute("UPDATE meta SET value = '0' WHERE key = 'clean_end'").has_value();
    }
}

/// A file that a recorder has locked, as the follower expects it.
class LockedCopy {
public:
    LockedCopy(const std::string& from, std::string path) : path_(std::move(path)) {
        fs::copy_file(from, path_, fs::copy_options::overwrite_existing);
        remove_end(path_);
        file_ = ::open(path_.c_str(), O_RDWR | O_CLOEXEC);
        ::flock(file_, LOCK_EX);
    }
    LockedCopy(const LockedCopy&) = delete;
    LockedCopy& operator=(const LockedCopy&) = delete;
    ~LockedCopy() { ::close(file_); }

    const std::string& path() const { return path_; }
    void overwrite(const LockedCopy& other) const {
        std::ifstream in(other.path(), std::ios::binary);
        const std::string bytes((std::istreambuf_iterator<char>(in)), {});
        (void)!::pwrite(file_, bytes.data(), bytes.size(), 0);
        (void)!::ftruncate(file_, static_cast<off_t>(bytes.size()));
    }
    void unlock() const { ::flock(file_, LOCK_UN); }

private:
    std::string path_;
    int file_;
};

/// Follows a trace until its writer ends. `turn`, between two looks, changes the file.
template <class Turn>
Status follow_to_end(const LockedCopy& growing, Turn&& turn) {
    auto follower = TraceFollower::open(growing.path());
    if (!follower) {
        return follower.error();
    }
    Progress progress;
    (void)follower->poll(progress).has_value();
    turn();
    (void)follower->poll(progress).has_value();
    growing.unlock();
    const auto last = follower->poll(progress);
    return last ? Status() : Status(last.error());
}

/// Follows the original while it turns into the mutant, and the mutant from its beginning.
int follow(const Paths& paths) {
    const LockedCopy mutant(paths.trace, "mutant.tide"), growing(paths.original, "growing.tide");
    const Status turned = follow_to_end(growing, [&] { growing.overwrite(mutant); });
    const Status alone = follow_to_end(mutant, [] {});
    return turned && alone ? exit_success : report((turned ? alone : turned).error());
}

/// Replays every device under other rules of the allocator.
int replay_what_if(const Paths& paths) {
    Progress progress;
    const auto trace = open_trace(paths.trace, progress);
    if (!trace) {
        return report(trace.error());
    }
    for (const DeviceHistory& device : (*trace)->devices) {
        check_model(**trace, device, progress);
        std::vector<Change> changes(5);
        changes[1].expandable_segments = true;
        changes[2].max_split_size = 1 << 20;
        changes[2].roundup_divisions.emplace().fill(4);
        changes[3].garbage_collection_threshold = 0.5;
        changes[3].empty_cache_at = {0, device.event_count() / 2, device.event_count()};
        changes[4].ignore_empty_cache = true;
        for (AllocationIndex a = 0; a < std::min<AllocationIndex>(device.allocations.size(), 10); ++a) {
            changes[4].freed_at.emplace_back(a, device.event_count() / 2);
        }
        for (const Change& change : changes) {
            (void)what_if(**trace, device, change, find_capacity(**trace, device), progress).has_value();
        }
    }
    return exit_success;
}

/// Makes every table of every device, as Python asks for them.
int make_tables(const Paths& paths) {
    Progress progress;
    const auto trace = open_trace(paths.trace, progress);
    if (!trace) {
        return report(trace.error());
    }
    auto graph = open_graph(*trace, progress);
    if (!graph) {
        return report(graph.error());
    }
    const std::shared_ptr<const Graph> shared = *std::move(graph);
    Contexts contexts;
    for (const DeviceHistory& device : (*trace)->devices) {
        contexts.push_back(
            std::make_shared<const AnalysisContext>(std::make_shared<const Analysis>(*trace, device), shared));
    }
    const auto explained = explain_devices(std::move(contexts), Words(Language::english), progress);
    const TakeBatch take = [](TableBatch&&) { return Status(); };
    for (const Explained& device : *explained) {
        const TimePoint peak = peak_and_end(*device.context).front().point;
        (void)write_dataset(device, ExportedAllocations::all, take).has_value();
        (void)write_events(*device.context, take).has_value();
        (void)write_active(*device.context, peak, take).has_value();
        (void)write_groups(*device.context, peak, GroupBy::stack, {}, take).has_value();
    }
    return exit_success;
}

}  // namespace

std::vector<Reading> trace_readings() {
    std::vector<Reading> readings{
        answer("info TRACE --format json"), answer("explain TRACE --format json"), answer("stats TRACE --format json"),
        command("info TRACE --check"), command("explain TRACE --all"),
        command("explain TRACE --from event:1 --at peak"), command("explain TRACE --format markdown"),
        command("explain TRACE --format html"),
        command("check TRACE --max-peak 1GiB --max-growth-per-step 0 --no-finding leak"),
        command("stats TRACE --at peak"), command("top TRACE --by line"), command("top TRACE --by category --limit 0"),
        command("top TRACE --by module --at end --format json"), command("diff ORIGINAL TRACE --by stack"),
        command("diff TRACE --by category --format json"), command("breakdown TRACE --at peak"),
        command("breakdown TRACE --format json"), command("graph TRACE"),
        command("graph TRACE --at peak --format json"), command("graph TRACE --format dot --limit 0"),
        command("graph TRACE --node 1"), command("graph TRACE --root 1"), command("graph TRACE --alloc 1"),
        command("referrers TRACE --all"), command("referrers TRACE --limit 0 --format json"),
        // Words are separated by spaces: SQL has none.
        command("query TRACE select*from(stacks) --timeout 3"),
        command("query TRACE select*from(live_at_peak)order/**/by/**/3 --timeout 3"),
        command("query TRACE select*from(nodes)join(saved_tensors) --format json --timeout 3"),
        command("query TRACE select*from(segments)join(data_gaps) --format csv --timeout 3"),
        command("export TRACE --format perfetto -o - --spans 0"), command("export TRACE --format memory_viz -o -"),
        command("export TRACE --format folded -o -"), command("export TRACE --format csv -o tables --force"),
        command("metrics TRACE"), command("share TRACE -o OUT --force"),
        command("share TRACE -o OUT --force --redact paths,source,names"),
        command("share TRACE -o OUT --force --from peak")};
    readings.push_back({"what-if", replay_what_if});
    readings.push_back({"tables", make_tables});
    readings.push_back({"follow", follow});
    for (Reading& view : view_readings()) {
        readings.push_back(std::move(view));
    }
    return readings;
}

std::vector<Reading> snapshot_readings() {
    std::vector<Reading> readings{command("import FILE -o TRACE --force")};
    readings.front().required = true;
    for (Reading& reading : trace_readings()) {
        readings.push_back(std::move(reading));
    }
    return readings;
}

void prepare_readings(int& argc, char** argv) { prepare_views(argc, argv); }

namespace {

Reported reported_in(const Trace& trace) {
    return {true, trace.integrity == Integrity::changed, static_cast<int>(trace.data_gaps.size())};
}

}  // namespace

Reported reported_by(const std::string& trace) {
    Progress progress;
    if (const auto opened = open_trace(trace, progress)) {
        return reported_in(**opened);
    }
    // Damage of a table that a summary does not read: `info` answers, and says that the file was changed.
    const auto summary = open_summary(trace, progress);
    return summary ? reported_in(*summary->trace) : Reported{};
}

}  // namespace tidemark::hostile
