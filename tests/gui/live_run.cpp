// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "live_run.h"

#include <array>
#include <chrono>
#include <deque>
#include <set>
#include <thread>

#include "storage/write/streaming_writer.h"

namespace tidemark::gui::test {

namespace {

using Clock = std::chrono::steady_clock;
constexpr int64_t second = 1'000'000'000;
constexpr int64_t mib = int64_t{1} << 20;
constexpr uint64_t first_address = 0x7f0000000000;
constexpr auto commit_every = std::chrono::milliseconds(100);

int64_t utc_now() {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch())
        .count();
}

Trace head_of(int64_t start_utc) {
    Trace head;
    head.source = "made by a test";
    head.start_utc_ns = start_utc;
    head.settings["expandable_segments"] = "false";
    return head;
}

class LiveRun {
public:
    LiveRun(StreamingWriter& writer, const LiveRunShape& shape, int64_t start_utc)
        : writer_(writer), shape_(shape), start_utc_(start_utc) {
        stream_ = writer_.stream(0);
        pool_ = writer_.pool(0, 0);
        writer_.device(0, "NVIDIA H200", 140ll << 30, "");
        process_.pid = 4242;
        process_.command_line = "python train.py --epochs 3";
        writer_.process(process_);
        for (int line = 0; line < 12; ++line) {
            StackTable& table = writer_.stacks();
            const FrameId main =
                table.intern(Frame{table.intern("train_step"), table.intern("/home/anna/train.py"), 40});
            const FrameId component =
                table.intern(Frame{table.intern("forward"), table.intern("/home/anna/model.py"), 10 + 7 * line});
            stacks_.push_back(table.intern_stack(std::array{component, main}));
            OriginRow origin;
            origin.op = table.intern(line % 2 ? "aten::linear" : "aten::scaled_dot_product_attention");
            origin.module = table.intern("layers." + std::to_string(line / 2));
            origin.phase = table.intern(word_of(line < 8 ? Phase::forward : Phase::backward));
            origin.thread = line < 8 ? 4242 : 4250;
            origins_.push_back(writer_.origin(origin));
        }
        if (shape_.samples) {
            writer_.driver_allocated(
                {DriverMemoryKind::context, 0, 0, uint64_t(490 * mib), 0, {}, "libcuda.so.1", 0, false}, no_segment);
            sample(0);
        }
    }

    /// Events up to a trace time, evenly spread.
    void advance(int64_t from, int64_t to, int events) {
        for (int i = 0; i < events; ++i) {
            one_event(from + (to - from) * (i + 1) / events);
        }
    }

    int64_t now() const { return utc_now() - start_utc_; }
    EventNumber events() const { return event_; }
    Status commit(int64_t time) {
        writer_.progress_of(0, event_, peak_event_);
        const auto committed = writer_.commit(time);
        return committed ? Status() : committed.error();
    }
    void sample(int64_t time) {
        Sample device{time, 0, {}, 0, 140ll << 30, SampleSource::nvml};
        device.used_bytes = reserved_ + 490 * mib + 310 * mib + 900 * mib + library_bytes_;
        writer_.sample(device);
        writer_.sample({time, 0, 4242, reserved_ + 490 * mib + 310 * mib + library_bytes_, 0, SampleSource::nvml});
        writer_.sample({time, 0, 999, 900 * mib, 0, SampleSource::nvml});
    }
    Status end(int64_t time) {
        process_.end = time;
        process_.how_ended = fact_from_word<ProcessEnd>(shape_.how_ended);
        process_.exit_status = shape_.exit_status;
        writer_.process(process_);
        const Status committed = commit(time);
        return committed ? writer_.finish(time, shape_.clean_end) : committed;
    }

private:
    struct Alive {
        StreamingWriter::LifetimeId id;
        uint32_t slot;
        uint64_t size;
    };

    /// Memory is slots of 1 MiB, 64 to a segment; the lowest free one is taken.
    uint32_t take_slot(int64_t time) {
        if (free_slots_.empty()) {
            Segment segment;
            segment.address = first_address + static_cast<uint64_t>(reserved_);
            segment.size = 64 * mib;
            segment.alloc_event = event_++;
            segment.is_large = true;
            segment.stream = stream_;
            segment.pool = pool_;
            writer_.segment_added(0, segment.numbered<FileEvent>(), time);
            for (int i = 0; i < 64; ++i) {
                free_slots_.insert(static_cast<uint32_t>(reserved_ / mib) + i);
            }
            reserved_ += 64 * mib;
            if (shape_.samples && reserved_ == 192 * mib) {
                library_bytes_ = 64 * mib;
                writer_.driver_allocated(
                    {DriverMemoryKind::device, 0, 0, uint64_t(64 * mib), time, {}, "libcublas.so.13", 0, false},
                    no_segment);
            }
        }
        const uint32_t slot = *free_slots_.begin();
        free_slots_.erase(free_slots_.begin());
        return slot;
    }

    void allocate(int64_t time) {
        const size_t line = static_cast<size_t>(reported_) % stacks_.size();
        const uint32_t slot = take_slot(time);
        AllocationRow row;
        row.time = time;
        row.lifetime.alloc_event = event_++;
        row.lifetime.requested = 100'000 + static_cast<uint64_t>(reported_ * 7919ll % 900'000);
        row.lifetime.block_size = (row.lifetime.requested + 511) / 512 * 512;
        row.lifetime.address = first_address + slot * uint64_t(mib);
        row.lifetime.segment = slot / 64;
        row.lifetime.stack = stacks_[line];
        row.lifetime.origin = origins_[line];
        allocated_ += static_cast<int64_t>(row.lifetime.block_size);
        if (allocated_ > peak_) {
            peak_ = allocated_;
            peak_event_ = event_;
        }
        alive_.push_back({writer_.created(0, row), slot, row.lifetime.block_size});
    }

    /// The first of a step is never freed; the others go in order.
    void release(int64_t time) {
        const Alive dead = alive_.front();
        alive_.pop_front();
        writer_.free_requested(dead.id, event_, time, 0);
        writer_.free_completed(dead.id, event_ + 1, time);
        event_ += 2;
        allocated_ -= static_cast<int64_t>(dead.size);
        free_slots_.insert(dead.slot);
    }

    /// Half of a step allocates, the rest frees all but one: a leak of one tensor per step.
    void one_event(int64_t time) {
        const int in_step = ++reported_ % shape_.events_per_step;
        if (in_step == 0) {
            writer_.step({step_++, StepSource::optimizer, step_start_, time});
            step_start_ = time;
            if (!alive_.empty()) {
                alive_.pop_front();  // it is never freed
            }
        }
        if (in_step < shape_.events_per_step / 2) {
            allocate(time);
        } else if (alive_.size() > 1) {
            release(time);
        }
    }

    StreamingWriter& writer_;
    const LiveRunShape& shape_;
    int64_t start_utc_;
    Process process_;
    uint32_t stream_ = 0, pool_ = 0;
    std::set<uint32_t> free_slots_;
    std::vector<StackId> stacks_;
    std::vector<uint32_t> origins_;
    std::deque<Alive> alive_;
    EventNumber event_ = 0, peak_event_ = 0;
    int64_t allocated_ = 0, peak_ = 0, reserved_ = 0, library_bytes_ = 0, step_ = 0, step_start_ = 0;
    int reported_ = 0;
};

}  // namespace

Status write_live_run(const std::string& path, const LiveRunShape& shape, const std::atomic<bool>& stop) {
    const int64_t before = shape.events_before * second / std::max(shape.events_per_second, 1);
    const int64_t start = utc_now() - before;
    auto writer = StreamingWriter::create(path, IfExists::replace, head_of(start));
    if (!writer) {
        return writer.error();
    }
    LiveRun run(*writer, shape, start);
    run.advance(0, before, shape.events_before);
    int64_t reported = before, sampled = before;
    TIDEMARK_TRY(run.commit(reported));
    auto next_commit = Clock::now() + commit_every;
    const int64_t end = run.now() + static_cast<int64_t>(shape.seconds * 1e9);
    while (run.now() < end && !stop) {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        const int64_t now = run.now();
        run.advance(reported, now, static_cast<int>((now - reported) * shape.events_per_second / second));
        reported = now;
        if (Clock::now() >= next_commit) {
            if (shape.samples && now - sampled > second / 2) {
                run.sample(now);
                sampled = now;
            }
            TIDEMARK_TRY(run.commit(now));
            next_commit += commit_every;
        }
    }
    return run.end(run.now());
}

}  // namespace tidemark::gui::test
