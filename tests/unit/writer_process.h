// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// A process that writes a trace while tests follow it.
#pragma once

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "storage/write/streaming_writer.h"

namespace tidemark::test {

/// Writes a finished trace to a StreamingWriter, one time range after another.
class TraceStreamer {
public:
    TraceStreamer(const Trace& trace, StreamingWriter& writer) : trace_(trace), writer_(writer) {
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

    /// Writes events of each device until `part` (0 to 1) of them are written.
    void write_until(double part) {
        for (DeviceProgress& progress : devices_) {
            const auto end = static_cast<EventNumber>(part * progress.device.event_count());
            for (; progress.next < end; ++progress.next) {
                write_event(progress, progress.next);
            }
            writer_.progress_of(progress.device.device, end, 0);
        }
    }

private:
    struct DeviceProgress {
        const DeviceHistory& device;
        std::vector<StreamingWriter::LifetimeId> lifetimes;  ///< indexed by allocation
        std::vector<bool> written_segments;
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

    void begin(DeviceProgress& progress) {
        const DeviceHistory& device = progress.device;
        writer_.device(device.device, device.name, device.total_bytes, "");
        progress.lifetimes.resize(device.allocations.size());
        for (uint32_t s = 0; s < device.segments.size() && device.segments[s].alloc_event == before_history; ++s) {
            add_segment(progress, s, 0);
        }
        for (uint32_t a = 0; a < device.allocations.size() && device.allocations.alloc_event[a] == before_history;
             ++a) {
            add_allocation(progress, a, 0);
        }
    }

    void add_segment(DeviceProgress& progress, uint32_t s, int64_t time) {
        Segment segment = progress.device.segments[s];
        segment.stack = stack(segment.stack);
        segment.free_event = never;
        segment.free_stack = 0;
        writer_.segment_added(progress.device.device, segment.numbered<FileEvent>(), time);
    }

    void add_allocation(DeviceProgress& progress, uint32_t a, int64_t time) {
        const Allocations& all = progress.device.allocations;
        AllocationRow row;
        row.lifetime = {all.alloc_event[a],  never_in_file,
                        never_in_file,       all.address[a],
                        all.requested[a],    all.block_size[a],
                        stack(all.stack[a]), 0,
                        all.segment[a],      0};
        row.time = time;
        progress.lifetimes[a] = writer_.created(progress.device.device, row);
    }

    void write_event(DeviceProgress& progress, EventNumber e) {
        const DeviceHistory& device = progress.device;
        const EventRef ref = device.event_ref[static_cast<size_t>(e)];
        const int64_t time = device.event_time[static_cast<size_t>(e)];
        switch (ref.action()) {
            case Action::alloc: return add_allocation(progress, ref.index(), time);
            case Action::free_requested:
                return writer_.free_requested(progress.lifetimes[ref.index()], e, time,
                                              stack(device.allocations.free_stack[ref.index()]));
            case Action::free_completed: return writer_.free_completed(progress.lifetimes[ref.index()], e, time);
            case Action::segment_alloc:
            case Action::segment_map:
                for (uint32_t s = ref.index(); s < device.segments.size() && device.segments[s].alloc_event == e; ++s) {
                    add_segment(progress, s, time);
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
                writer_.other_event(device.device, other.numbered<FileEvent>(), time, 0);
            }
        }
    }

    const Trace& trace_;
    StreamingWriter& writer_;
    std::vector<DeviceProgress> devices_;
};

/// Writes random records of every kind other than allocator events.
class RandomRecords {
public:
    explicit RandomRecords(StreamingWriter& writer) : writer_(writer) {
        Process process;
        process.pid = 4711;
        process.command_line = "python train.py";
        writer_.process(process);
    }

    void write(int64_t now) {
        for (int i = 0; i < 20; ++i) {
            write_one(now + i);
        }
        writer_.step({step_, StepSource::optimizer, now, now + 10});
        writer_.step({++step_, StepSource::optimizer, now + 10, std::nullopt});
        if (step_ == 5) {
            writer_.drop_steps();
        }
        writer_.meta("committed.note", "any");
    }

private:
    void write_one(int64_t now) {
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
        row.module = writer_.stacks().intern("layer" + std::to_string(random_() % 10));
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

/// A child process that writes a trace in equal parts, each on request. The destructor kills it.
class WriterProcess {
public:
    static constexpr char next_part = 'n', finish = 'f', finish_unclean = 'u', crash = 'c';

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

    /// Sends a request and waits. Returns the trace time up to which the trace is committed.
    int64_t request(char order) {
        EXPECT_EQ(1, ::write(orders_[1], &order, 1));
        return wait_for_answer();
    }
    /// Sends the last request without waiting.
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
        TraceStreamer streamer(trace, *writer);
        RandomRecords records(*writer);
        int64_t time = 0;
        for (int part = 0;; ++part) {
            streamer.write_until(std::min(1.0, double(part) / parts));
            records.write(time);
            time = (part + 1) * 1000;
            do {
                if (!writer->commit(time)) {
                    return 2;
                }
                std::this_thread::sleep_for(std::chrono::milliseconds(1));
            } while (writer->pending_bytes() > 0);
            char order = 0;
            if (::write(answers_[1], &time, sizeof time) != sizeof time || read(orders_[0], &order, 1) != 1) {
                return 3;
            }
            if (order == crash) {
                kill(getpid(), SIGKILL);
            }
            if (order != next_part) {
                streamer.write_until(1);
                return writer->finish(trace.duration, order == finish) ? 0 : 4;
            }
        }
    }

    int orders_[2], answers_[2];
    pid_t pid_ = -1;
};

}  // namespace tidemark::test
