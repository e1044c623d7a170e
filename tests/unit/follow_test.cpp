// Following a trace: whatever was committed, polling gives what opening gives. The writer is a process of its own, as
// in life: looking at a file ends the locks its own process holds on it.
#include "storage/read/follow.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

#include "storage/format/schema.h"
#include "storage/import/import.h"
#include "storage/read/trace.h"
#include "storage/write/streaming_writer.h"
#include "tests/unit/hand_made_trace.h"
#include "tests/unit/trace_equality.h"

namespace tidemark {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

/// Tells a live writer what a finished trace holds, one stretch of time after the other.
class ReportingAgain {
public:
    ReportingAgain(const Trace& trace, StreamingWriter& writer) : trace_(trace), writer_(writer) {
        writer_.stream(0);
        for (const Stream& stream : trace.streams) {
            writer_.stream(stream.handle);
        }
        for (const Pool& pool : trace.pools) {
            writer_.pool(pool.owner[0], pool.owner[1]);
        }
        for (const auto& [key, value] : trace.settings) {
            writer_.setting(key, value);
        }
        for (const DeviceHistory& device : trace.devices) {
            devices_.push_back({device, {}, {}, 0});
            begin(devices_.back());
        }
    }

    /// Up to `part` (0 to 1) of each device's events.
    void report(double part) {
        for (Recorder& recorder : devices_) {
            const auto end = static_cast<EventNumber>(part * recorder.device.event_count());
            for (; recorder.next < end; ++recorder.next) {
                report_event(recorder, recorder.next);
            }
            writer_.progress_of(recorder.device.device, end, 0);
        }
    }

private:
    struct Recorder {
        const DeviceHistory& device;
        std::vector<StreamingWriter::LifetimeId> lifetimes;  ///< by allocation
        std::vector<bool> reported_segments;
        EventNumber next = 0;
    };

    StackId stack(StackId id) {
        StackTable& table = writer_.stacks();
        const StackTable& from = trace_.stacks;
        for (StackId s = table.stack_count(); s <= id; ++s) {
            const Frame frame = from.frame(from.stack(s).frame);
            const Frame moved{table.intern(from.string(frame.function)), table.intern(from.string(frame.file)),
                              frame.line};
            table.intern(StackEntry{from.stack(s).caller, table.intern(moved)});
        }
        return id;
    }

    void begin(Recorder& recorder) {
        const DeviceHistory& device = recorder.device;
        writer_.device(device.device, device.name, device.total_bytes, "");
        recorder.lifetimes.resize(device.allocations.size());
        for (uint32_t s = 0; s < device.segments.size() && device.segments[s].alloc_event == before_history; ++s) {
            add_segment(recorder, s, 0);
        }
        for (uint32_t a = 0; a < device.allocations.size() && device.allocations.alloc_event[a] == before_history;
             ++a) {
            bear(recorder, a, 0);
        }
    }

    void add_segment(Recorder& recorder, uint32_t s, int64_t time) {
        Segment segment = recorder.device.segments[s];
        segment.stack = stack(segment.stack);
        segment.free_event = never;
        segment.free_stack = 0;
        writer_.segment_added(recorder.device.device, segment, time);
    }

    void bear(Recorder& recorder, uint32_t a, int64_t time) {
        const Allocations& all = recorder.device.allocations;
        AllocationRow row;
        row.lifetime = {all.alloc_event[a],
                        never,
                        never,
                        all.address[a],
                        all.requested[a],
                        all.block_size[a],
                        stack(all.stack[a]),
                        0,
                        all.segment[a],
                        0};
        row.time = time;
        recorder.lifetimes[a] = writer_.created(recorder.device.device, row);
    }

    void report_event(Recorder& recorder, EventNumber e) {
        const DeviceHistory& device = recorder.device;
        const EventRef ref = device.event_ref[static_cast<size_t>(e)];
        const int64_t time = device.event_time[static_cast<size_t>(e)];
        switch (ref.action()) {
            case Action::alloc: return bear(recorder, ref.index(), time);
            case Action::free_requested:
                return writer_.free_requested(recorder.lifetimes[ref.index()], e, time,
                                              stack(device.allocations.free_stack[ref.index()]));
            case Action::free_completed: return writer_.free_completed(recorder.lifetimes[ref.index()], e, time);
            case Action::segment_alloc:
            case Action::segment_map:
                for (uint32_t s = ref.index(); s < device.segments.size() && device.segments[s].alloc_event == e; ++s) {
                    add_segment(recorder, s, time);
                }
                return;
            case Action::segment_free:
            case Action::segment_unmap:
                for (uint32_t s = 0; s < device.segments.size(); ++s) {
                    if (device.segments[s].free_event == e) {
                        writer_.segment_removed(device.device, s, e, time, stack(device.segments[s].free_stack));
                    }
                }
                return;
            default: {
                OtherEvent other = device.others[ref.index()];
                other.stack = stack(other.stack);
                writer_.other_event(device.device, other, time, 0);
            }
        }
    }

    const Trace& trace_;
    StreamingWriter& writer_;
    std::vector<Recorder> devices_;
};

/// What a recorder tells beside the allocator's events, at random.
class Surroundings {
public:
    explicit Surroundings(StreamingWriter& writer) : writer_(writer) {
        writer_.process({4711, 0, "python train.py", 0, std::nullopt, std::nullopt, {}});
    }

    void report(int64_t now) {
        for (int i = 0; i < 20; ++i) {
            report_one(now + i);
        }
        writer_.step({step_, StepSource::optimizer, now, now + 10});
        writer_.step({++step_, StepSource::optimizer, now + 10, std::nullopt});
        if (step_ == 5) {
            writer_.drop_steps();
        }
        writer_.meta("committed.note", "any");
    }

private:
    void report_one(int64_t now) {
        switch (random_() % 8) {
            case 0:
                driver_.push_back(writer_.driver_allocated(
                    {DriverMemoryKind::device, 0, random_(), 512, now, {}, "libx.so", 0, false}, no_segment));
                return;
            case 1: end(driver_, [&](int64_t id) { writer_.driver_freed(id, now); }); return;
            case 2:
                spans_.push_back(writer_.annotation_begun({"span", AnnotationKind::user, 0, now, now, false}, 1));
                return;
            case 3: end(spans_, [&](int64_t id) { writer_.annotation_ended(id, now); }); return;
            case 4:
                writer_.sample(
                    {now, 0, std::nullopt, static_cast<int64_t>(random_() % 4096), 4096, SampleSource::nvml});
                return;
            case 5: writer_.mark({"mark", now, 0.5, {{0, 1}}}); return;
            case 6:
                writer_.data_gap(
                    {DataGapKind::recorder_overrun, 0, now, 3, 0, DataGapReason::events_dropped, {{"first", "7"}}, {}});
                return;
            default: change_origin();
        }
    }

    void change_origin() {
        OriginRow row;
        row.op = writer_.stacks().intern("aten::add" + std::to_string(random_() % 10));
        const uint32_t id = writer_.origin(row);
        row.module = writer_.stacks().intern("component" + std::to_string(random_() % 10));
        if (origin_ != 0) {
            writer_.origin_changed(origin_, row);
        }
        origin_ = id;
    }

    template <class End>
    void end(std::vector<int64_t>& ids, End&& how) {
        if (!ids.empty()) {
            const size_t which = random_() % ids.size();
            how(ids[which]);
            ids.erase(ids.begin() + static_cast<ptrdiff_t>(which));
        }
    }

    StreamingWriter& writer_;
    std::mt19937 random_{7};
    std::vector<int64_t> driver_, spans_;
    uint32_t origin_ = 0;
    int64_t step_ = 0;
};

/// A process that writes a trace, a part each time it is told to go on.
class WriterProcess {
public:
    static constexpr char go_on = 'g', finish = 'f', finish_unclean = 'u', die = 'k';

    WriterProcess(const Trace& trace, const std::string& path, int parts) {
        EXPECT_EQ(0, pipe(orders_));
        EXPECT_EQ(0, pipe(answers_));
        pid_ = fork();
        if (pid_ == 0) {
            close(orders_[1]);
            _exit(write(trace, path, parts));
        }
        close(orders_[0]);
        wait_for_answer();
    }
    ~WriterProcess() {
        close(orders_[1]);
        close(answers_[0]);
        close(answers_[1]);
        if (pid_ > 0) {
            kill(pid_, SIGKILL);
            waitpid(pid_, nullptr, 0);
        }
    }
    WriterProcess(const WriterProcess&) = delete;
    WriterProcess& operator=(const WriterProcess&) = delete;

    /// Trace time up to which it has told.
    int64_t report(char order) {
        EXPECT_EQ(1, ::write(orders_[1], &order, 1));
        return wait_for_answer();
    }
    void end(char order) { EXPECT_EQ(1, ::write(orders_[1], &order, 1)); }
    void wait_for_end() {
        waitpid(pid_, nullptr, 0);
        pid_ = 0;
    }

private:
    int64_t wait_for_answer() {
        int64_t time = -1;
        EXPECT_EQ(ssize_t{sizeof time}, read(answers_[0], &time, sizeof time));
        return time;
    }

    int write(const Trace& trace, const std::string& path, int parts) {
        auto writer = StreamingWriter::create(path, IfExists::fail, trace);
        if (!writer) {
            return 1;
        }
        ReportingAgain reporting_again(trace, *writer);
        Surroundings surroundings(*writer);
        int64_t time = 0;
        for (int part = 0;; ++part) {
            reporting_again.report(std::min(1.0, double(part) / parts));
            surroundings.report(time);
            time = (part + 1) * 1000;
            do {
                if (!writer->commit(time)) {
                    return 2;
                }
                std::this_thread::sleep_for(1ms);
            } while (writer->pending_bytes() > 0);
            char order = 0;
            if (::write(answers_[1], &time, sizeof time) != sizeof time || read(orders_[0], &order, 1) != 1) {
                return 3;
            }
            if (order == die) {
                kill(getpid(), SIGKILL);
            }
            if (order != go_on) {
                reporting_again.report(1);
                return writer->finish(trace.duration, order == finish) ? 0 : 4;
            }
        }
    }

    int orders_[2], answers_[2];
    pid_t pid_ = -1;
};

std::shared_ptr<const Trace> open(const std::string& path) {
    Progress progress;
    auto trace = open_trace(path, progress);
    EXPECT_TRUE(trace) << (trace ? "" : trace.error().message);
    return trace ? *trace : nullptr;
}

std::shared_ptr<const Trace> poll(TraceFollower& follower) {
    Progress progress;
    auto trace = follower.poll(progress);
    EXPECT_TRUE(trace) << (trace ? "" : trace.error().message);
    return trace ? *trace : nullptr;
}

class Follow : public testing::TestWithParam<const char*> {
protected:
    void SetUp() override {
        folder_ = fs::temp_directory_path() / ("tidemark_follow_" + std::to_string(::getpid()));
        fs::remove_all(folder_);
        fs::create_directories(folder_);
        path_ = (folder_ / "run.tide").string();
    }
    void TearDown() override { fs::remove_all(folder_); }

    static std::shared_ptr<const Trace> sample_trace(const char* name) {
        const std::string data = TIDEMARK_TEST_DATA;
        if (std::string(name) == "format_1") {
            return open(data + "/traces/format-1.tide");
        }
        Progress progress;
        auto trace = read_snapshot_trace(data + "/snapshots/" + name + ".pickle", progress);
        EXPECT_TRUE(trace);
        return trace ? *trace : nullptr;
    }

    TraceFollower follower() {
        auto follower = TraceFollower::open(path_);
        EXPECT_TRUE(follower) << (follower ? "" : follower.error().message);
        return *std::move(follower);
    }

    /// Polls until everything up to a trace time is there, or the end.
    static std::shared_ptr<const Trace> poll_until(TraceFollower& follower, int64_t time) {
        std::shared_ptr<const Trace> last;
        for (int i = 0; i < 2000 && !follower.ended() && (!last || last->committed_time < time); ++i) {
            if (auto trace = poll(follower)) {
                last = std::move(trace);
            } else {
                std::this_thread::sleep_for(2ms);
            }
        }
        return last;
    }

    std::vector<std::string> files() const {
        std::vector<std::string> names;
        for (const auto& entry : fs::directory_iterator(folder_)) {
            names.push_back(entry.path().filename());
        }
        std::sort(names.begin(), names.end());
        return names;
    }

    fs::path folder_;
    std::string path_;
};

TEST_P(Follow, EveryPollGivesWhatOpeningGives) {
    const auto original = sample_trace(GetParam());
    constexpr int parts = 9;
    WriterProcess writer(*original, path_, parts);
    TraceFollower live = follower();
    for (int part = 0; part <= parts; ++part) {
        SCOPED_TRACE(part);
        EXPECT_TRUE(is_being_written(path_));
        const auto polled = poll_until(live, (part + 1) * 1000);
        ASSERT_TRUE(polled);
        test::expect_same_trace(*open(path_), *polled);
        EXPECT_TRUE(polled->being_written);
        EXPECT_FALSE(poll(live)) << "nothing was committed since";
        ASSERT_FALSE(HasFatalFailure());
        if (part < parts) {
            writer.report(WriterProcess::go_on);
        }
    }
    writer.end(WriterProcess::finish);
    const auto last = poll_until(live, INT64_MAX);
    ASSERT_TRUE(last);
    EXPECT_TRUE(live.ended());
    EXPECT_FALSE(poll(live));
    writer.wait_for_end();
    EXPECT_FALSE(is_being_written(path_));
    EXPECT_EQ(std::vector<std::string>{"run.tide"}, files());
    const auto opened = open(path_);
    test::expect_same_trace(*opened, *last);
    EXPECT_TRUE(opened->clean_end);
    for (size_t d = 0; d < original->devices.size(); ++d) {
        test::expect_same_rows(original->devices[d].segments, opened->devices[d].segments, "segment");
        EXPECT_EQ(original->devices[d].event_time, opened->devices[d].event_time);
        EXPECT_EQ(original->devices[d].allocations.free_completed, opened->devices[d].allocations.free_completed);
    }
}

INSTANTIATE_TEST_SUITE_P(Real, Follow,
                         testing::Values("format_1", "adam_steps", "amp", "cudagraph", "expandable_graph",
                                         "expandable_mixed", "frag_oom", "gc_threshold", "gpt_ring", "late_start",
                                         "max_split", "mempool", "oom_retry", "record_stream", "ring_small", "roundup",
                                         "s0_graph_leak", "s2_oom_list", "streams", "two_gpus", "varlen_expandable"),
                         [](const auto& name) { return name.param; });

using FollowOne = Follow;

TEST_F(FollowOne, AKilledWriterEndsTheTraceAsItWasCommitted) {
    const auto original = sample_trace("streams");
    WriterProcess writer(*original, path_, 4);
    TraceFollower live = follower();
    const int64_t reported = writer.report(WriterProcess::go_on);
    const auto before = poll_until(live, reported);
    ASSERT_TRUE(before);
    writer.end(WriterProcess::die);
    writer.wait_for_end();
    const auto last = poll(live);
    ASSERT_TRUE(last);
    EXPECT_TRUE(live.ended());
    EXPECT_FALSE(last->clean_end);
    EXPECT_FALSE(last->being_written);
    EXPECT_EQ(reported, last->committed_time);
    EXPECT_EQ(DataGapKind::unclean_end, last->data_gaps.back().kind);
    EXPECT_EQ(before->main_device().event_count(), last->main_device().event_count());

    const auto left = files();
    const auto opened = open(path_);
    test::expect_same_trace(*opened, *last);
    EXPECT_EQ(left, files()) << "nothing is written beside it";
    fs::remove(path_ + "-shm");
    test::expect_same_trace(*open(path_), *last);
    EXPECT_FALSE(fs::exists(path_ + "-shm"));
    Progress progress;
    EXPECT_TRUE(check_every_page(path_, progress));
    TraceFollower late = follower();
    test::expect_same_trace(*poll(late), *last);
    EXPECT_TRUE(late.ended());
}

TEST_F(FollowOne, WithoutItsLogAnUnfinishedTraceStillOpens) {
    const auto original = sample_trace("streams");
    WriterProcess writer(*original, path_, 4);
    for (int i = 0; i < 3; ++i) {
        writer.report(WriterProcess::go_on);
    }
    writer.end(WriterProcess::die);
    writer.wait_for_end();
    const std::string copy = (folder_ / "a copy?of#100%.tide").string();
    fs::copy_file(path_, copy);
    const auto opened = open(copy);
    ASSERT_TRUE(opened);
    EXPECT_FALSE(opened->clean_end);
    EXPECT_FALSE(opened->being_written);
    EXPECT_EQ(DataGapKind::unclean_end, opened->data_gaps.back().kind);
    EXPECT_GT(opened->main_device().event_count(), 0);
    EXPECT_FALSE(fs::exists(copy + "-wal"));
    EXPECT_FALSE(fs::exists(copy + "-shm"));
}

TEST_F(FollowOne, AnUncleanFinishIsNoHangAndSaysSo) {
    WriterProcess writer(test::hand_made_trace(), path_, 2);
    TraceFollower live = follower();
    ASSERT_TRUE(poll_until(live, 1000));
    writer.end(WriterProcess::finish_unclean);
    const auto last = poll_until(live, INT64_MAX);
    ASSERT_TRUE(last);
    writer.wait_for_end();
    EXPECT_FALSE(last->clean_end);
    test::expect_same_trace(*open(path_), *last);
}

TEST_F(FollowOne, AFinishedTraceIsPolledOnce) {
    Progress progress;
    ASSERT_TRUE(write_trace(*sample_trace("adam_steps"), path_, IfExists::fail, progress));
    TraceFollower done = follower();
    const auto trace = poll(done);
    ASSERT_TRUE(trace);
    EXPECT_TRUE(done.ended());
    test::expect_same_trace(*open(path_), *trace);
    EXPECT_FALSE(is_being_written(path_));
    EXPECT_FALSE(TraceFollower::open(path_ + ".no"));
}

TEST_F(FollowOne, DamagedLogsAreSurvived) {
    const auto original = sample_trace("s1_plain");
    WriterProcess writer(*original, path_, 3);
    writer.report(WriterProcess::go_on);
    writer.end(WriterProcess::die);
    writer.wait_for_end();
    std::ifstream in(path_ + "-wal", std::ios::binary);
    const std::string good((std::istreambuf_iterator<char>(in)), {});
    ASSERT_FALSE(good.empty());
    std::mt19937 random(3);
    for (int k = 0; k < 100; ++k) {
        std::string bad = good.substr(0, k % 5 == 0 ? random() % good.size() : good.size());
        for (int flips = 0; flips < 1 + k % 3 && !bad.empty(); ++flips) {
            bad[random() % bad.size()] ^= static_cast<char>(1 + random() % 255);
        }
        std::ofstream(path_ + "-wal", std::ios::binary | std::ios::trunc) << bad;
        Progress progress;
        const auto opened = open_trace(path_, progress);  // either a sentence or a trace; never a crash
        EXPECT_TRUE(opened || !opened.error().message.empty());
        EXPECT_EQ(bad.size(), fs::file_size(path_ + "-wal")) << "reading never writes";
    }
}

}  // namespace
}  // namespace tidemark
