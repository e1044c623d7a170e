// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/daemon/recorder.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "recorder/core/environment.h"
#include "storage/base/units.h"
#include "storage/base/utf8.h"
#include "storage/text/words.h"

namespace tidemark::recorder {

namespace {

using std::chrono::milliseconds;

/// A killed recorder loses about 100 ms: this period and the duration of a commit.
constexpr auto commit_period = milliseconds(50);
constexpr auto check_period = milliseconds(100);
constexpr auto extra_sample_period = milliseconds(20);
constexpr auto busy_pause = milliseconds(5), idle_pause = milliseconds(20);
/// Number of records read from one ring before the next ring. A small number preserves the order across threads better.
constexpr uint64_t slice = 512;
/// Each keeps the last steps: all of them together must stay a small part of the trace.
constexpr int most_times_kept = 64, steps_kept = 4;
/// Limit for reading the rest after the end: a damaged ring may never seem empty.
constexpr auto longest_last_drain = std::chrono::seconds(30);

/// Returns whether the payload of such a record is one text, or begins with something short and ends with one.
bool is_text(uint8_t kind) {
    switch (kind) {
        case TIDEMARK_EVENT:
        case TIDEMARK_TEXT:
        case TIDEMARK_MODULE:
        case TIDEMARK_DEVICE:
        case TIDEMARK_MARK:
        case TIDEMARK_PHASE:
        case TIDEMARK_DATA_GAP:
        case TIDEMARK_META:
        case TIDEMARK_END:
        case TIDEMARK_HEAP_SCAN: return true;
        default: return false;
    }
}

}  // namespace

Recorder::Recorder(const Parts& parts, StreamingWriter writer)
    : options_(parts.options),
      facts_(parts.program),
      region_(parts.region),
      clock_(parts.clock),
      session_(parts.session),
      place_(parts.place),
      control_(parts.control),
      writer_(std::move(writer)),
      driver_events_(writer_, region_.header(), [this](uint32_t device) { return track(device); }),
      source_(writer_, static_cast<pid_t>(options_.program)),
      gpu_usage_(writer_, driver_, clock_, options_.program),
      sampler_(region_.header()),
      scan_requests_(region_.header()),
      program_(options_.program),
      is_adaptive_(environment("TIDEMARK_DETAIL") == "adaptive") {
    for (uint32_t i = 0; i < region_.ring_count(); ++i) {
        rings_.push_back({RingReader(region_.ring(i), region_.slots(i), region_.ring_capacity())});
    }
    begin_process();
    writer_.stream(0);
    writer_.pool(0, 0);
    last_commit_ = last_check_ = last_second_ = Clock::now();
}

Recorder::~Recorder() = default;

Status Recorder::run(const std::atomic<int>& stop_signal) {
    session_.report(report("recording"));
    control_.accept_requests();
    Status status = record(stop_signal);
    steering_.end();
    publish_status();
    if (status) {
        drain_to_the_end();
        status = finish();
    }
    if (!status) {
        run_log_.add_data_gap(DataGapReason::recorder_failed, clock_.now(),
                              {{"details", status.error().sentence.english()}});
        status = place_.is_elsewhere() ? Status(place_.remains_elsewhere(status.error())) : status;
    } else {
        status = place_.move_to_destination();
    }
    SessionReport last = report(status ? "finished" : "failed");
    last.failure = status ? "" : Words(language_of_locale()).translate(status.error().sentence);
    session_.report(last);
    return status;
}

Status Recorder::record(const std::atomic<int>& stop_signal) {
    region_.header().recorder_state.store(RecorderState::ready, std::memory_order_release);
    while (!must_end(stop_signal)) {
        const bool disk_keeps_up = writer_.pending_bytes() < writer_.most_pending_bytes();
        const uint64_t taken = disk_keeps_up ? drain() : 0;
        sampler_.serve_requests();
        sample_if_requested();
        take_readings();
        if (scan_requests_.update([this](const SiteWatch::VisitBlock& visit) { for_each_block(visit); })) {
            keep_details();  // memory grows
        }
        TIDEMARK_TRY(commit());
        do_every_second();
        steering_.serve();
        publish_status();
        if (taken < slice) {
            region_.sleep_until_woken(taken > 0 ? busy_pause : idle_pause);
        }
    }
    return {};
}

bool Recorder::must_end(const std::atomic<int>& stop_signal) {
    if (const int signal = stop_signal.load(); signal != 0 && !ending_) {
        run_log_.add_data_gap(DataGapReason::recorder_stopped, clock_.now(), {{"signal", fmt::to_string(signal)}});
        ending_ = Ending{ProcessEnd::stopped, std::nullopt, false};
    }
    if (!ending_ && Clock::now() - last_check_ >= check_period) {
        last_check_ = Clock::now();
        check_program();
    }
    return ending_.has_value();
}

void Recorder::check_program() {
    if (session_.stop_wanted()) {
        ending_ = Ending{ProcessEnd::stopped, std::nullopt, false};
    } else if (program_.is_gone()) {
        ending_ = Ending{{}, std::nullopt, true};
    }
}

uint64_t Recorder::drain() {
    read_until_ = clock_.now();
    uint64_t all = 0;
    for (bool any = true; any;) {
        any = false;
        for (uint32_t i = 0; i < rings_.size(); ++i) {
            const uint64_t taken = read_some(i);
            any |= taken >= slice;
            all += taken;
        }
        advance_tracks(false);
        any &= writer_.pending_bytes() < writer_.most_pending_bytes() && Clock::now() - last_commit_ < commit_period;
    }
    return all;
}

void Recorder::advance_tracks(bool at_end) {
    driver_events_.decide([this] { return torch_use(); }, at_end);
    for (auto& [device, track] : tracks_) {
        track.advance(at_end);
        driver_.segments_changed(static_cast<int>(device), track.take_segment_changes());
        graph_.on_answers(track.take_answers());
    }
    run_log_.write_marks([&](uint32_t device, uint64_t sequence) {
        return at_end ? std::optional(number_of(device, sequence)) : final_number_of(device, sequence);
    });
}

uint64_t Recorder::read_some(uint32_t index) {
    RingHeader& ring = region_.ring(index);
    RingInUse& used = rings_[index];
    const RingState state = ring.state.load(std::memory_order_acquire);
    if (state == RingState::free) {
        return 0;
    }
    const uint64_t taken = used.reader.read(slice, [&](const tidemark_record& record, auto payload) {
        if (used.thread == nullptr) {
            used.thread = &definitions_.thread(static_cast<uint16_t>(ring.serial), ring.native_thread);
        }
        on_message(*used.thread, record, payload);
    });
    if (taken == 0 && state == RingState::retired) {
        used.thread = nullptr;
        ring.state.store(RingState::free, std::memory_order_release);
    }
    return taken;
}

std::pair<tidemark_record, std::span<const std::byte>> Recorder::limited(const tidemark_record& record,
                                                                         std::span<const std::byte> payload) {
    std::pair result(record, payload);
    if (!clock_.can_be(record.ticks)) {
        result.first.ticks = ticks();
        ++times_refused_;
    }
    if (is_text(record.kind) && payload.size() > most_text_bytes) {
        result.second = payload.first(cut_text(text_of(payload), most_text_bytes).size());
        ++texts_cut_;
    }
    return result;
}

void Recorder::on_message(ThreadDefinitions& thread, const tidemark_record& sent,
                          std::span<const std::byte> sent_payload) {
    const auto [record, payload] = limited(sent, sent_payload);
    switch (record.kind) {
        case TIDEMARK_EVENT:
            if (DeviceTrack* device =
                    driver_events_.owner() != EventOwner::driver ? track(record.event.device) : nullptr) {
                const StringId metadata = payload.empty() ? 0 : writer_.stacks().intern(text_of(payload));
                device->on_event({record, &thread, metadata});
            }
            break;
        case TIDEMARK_TEXT:
        case TIDEMARK_STACK:
        case TIDEMARK_OP:
        case TIDEMARK_POOL: thread.define(record, payload); break;
        case TIDEMARK_MODULE:
            origins_.name_module(record.define.address, writer_.stacks().intern(text_of(payload)));
            break;
        case TIDEMARK_DEVICE: on_device(record, payload); break;
        case TIDEMARK_STATE: on_state(record, thread); break;
        case TIDEMARK_MARK: run_log_.on_mark(record, payload); break;
        case TIDEMARK_STEP:
            if (run_log_.on_step(record)) {
                graph_.on_step();
                for (auto& [number, device] : tracks_) {
                    device.step_ends(clock_.time_of(record.ticks));
                }
            }
            break;
        case TIDEMARK_SPAN: run_log_.on_span(record, thread); break;
        case TIDEMARK_PHASE: definitions_.name_phase(record.define.id, text_of(payload)); break;
        case TIDEMARK_OOM: on_out_of_memory(record); break;
        case TIDEMARK_DRIVER:
            driver_.on_record(record, thread);
            driver_events_.on_record(record, thread);
            request_sample_after(record);
            break;
        case TIDEMARK_DATA_GAP: run_log_.on_data_gap(record, payload); break;
        case TIDEMARK_META: run_log_.on_meta(payload); break;
        case TIDEMARK_RANK: on_rank(record); break;
        case TIDEMARK_NO_ALLOCATOR: driver_events_.own(); break;
        case TIDEMARK_END: on_end(record, payload); break;
        case TIDEMARK_NODE:
        case TIDEMARK_NODE_RUN:
        case TIDEMARK_NODE_DESTROYED:
        case TIDEMARK_LABEL:
        case TIDEMARK_REFERRER: graph_.on_record(record, payload, thread); break;
        case TIDEMARK_COST: cost_.on_record(record, thread.native_thread()); break;
        case TIDEMARK_HEAP_SCAN:
            cost_.on_record(record, thread.native_thread());
            graph_.on_record(record, payload, thread);
            if (fact_from_word<ScanReason>(text_of(payload)) == ScanReason::growing_sites) {
                scan_requests_.on_scan();
            }
            break;
        default: break;  // from a newer program: unknown
    }
}

/// A state before the first event says that the caching allocator reports its events.
void Recorder::on_state(const tidemark_record& record, const ThreadDefinitions& thread) {
    DeviceTrack* device = driver_events_.allocator_begins() ? track(record.state.device) : nullptr;
    if (device != nullptr) {
        device->on_state(record, thread);
    }
}

TorchUse Recorder::torch_use() const {
    const PythonProgress python = session_.python_progress({static_cast<pid_t>(options_.program)});
    return {python.torch_imported || run_log_.has_version("torch_version"),
            python.cuda_initialized || torch_uses_cuda_};
}

DeviceTrack* Recorder::track(uint32_t device) {
    const auto found = tracks_.find(device);
    if (found != tracks_.end()) {
        return &found->second;
    }
    if (device >= static_cast<uint32_t>(max_devices)) {
        ++records_of_refused_devices_;
        return nullptr;
    }
    return &tracks_
                .try_emplace(device, static_cast<int>(device),
                             TrackContext{writer_, definitions_, origins_, clock_, budget_, scan_requests_.sites(),
                                          site_labels_, run_log_.settings(), is_adaptive_})
                .first->second;
}

void Recorder::for_each_block(const SiteWatch::VisitBlock& visit) const {
    for (const auto& [device, track] : tracks_) {
        if (track.replay() != nullptr) {
            track.replay()->for_each_block(visit);
        }
    }
}

uint64_t Recorder::number_of(uint32_t device, uint64_t sequence) const {
    const auto found = tracks_.find(device);
    return found == tracks_.end() ? sequence : found->second.number_of(sequence);
}

std::optional<uint64_t> Recorder::final_number_of(uint32_t device, uint64_t sequence) const {
    const auto found = tracks_.find(device);
    const bool is_final = found == tracks_.end() || found->second.has_number(sequence);
    return is_final ? std::optional(number_of(device, sequence)) : std::nullopt;
}

void Recorder::on_device(const tidemark_record& record, std::span<const std::byte> payload) {
    torch_uses_cuda_ |= record.detail == TIDEMARK_DEVICE_FROM_PYTORCH;
    // PyTorch and the driver part describe the same devices.
    if (record.device.device >= static_cast<uint32_t>(max_devices) || devices_.contains(record.device.device)) {
        return;
    }
    const std::string_view text = text_of(payload);
    const size_t first = std::min(text.find('\0'), text.size());
    const size_t second = std::min(text.find('\0', first + 1), text.size());
    devices_[record.device.device] = {std::string(text.substr(0, first)),
                                      std::string(text.substr(std::min(first + 1, text.size()), second - first - 1)),
                                      std::string(text.substr(std::min(second + 1, text.size()))),
                                      static_cast<int64_t>(std::min(record.device.total_bytes, largest_size)), false};
    if (part_is_requested("nvml")) {
        const DeviceFacts& facts = devices_[record.device.device];
        sampler_.add_device(static_cast<int>(record.device.device), facts.pci_bus_id, facts.uuid);
    }
}

/// Keeps the events of the last steps and of the next ones, even if the trace becomes too large.
void Recorder::keep_details() {
    if (times_kept_ < most_times_kept) {
        ++times_kept_;
        writer_.keep_last_steps(steps_kept * static_cast<int>(tracks_.size()));
        for (auto& [device, track] : tracks_) {
            track.keep_details();
        }
    }
}

// The allocator's own oom event has the requested and the free bytes. This record adds a sample.
void Recorder::on_out_of_memory(const tidemark_record& record) {
    keep_details();
    take_readings();
    gpu_usage_.on_out_of_memory(static_cast<int>(record.oom.device), record.oom.sampled != 0);
    if (record.oom.sampled == 0) {
        sampler_.sample_now();
    }
}

void Recorder::request_sample_after(const tidemark_record& driver_record) {
    sample_is_requested_ |= driver_record.detail == TIDEMARK_DRIVER_CONTEXT_CREATED ||
                            driver_record.detail == TIDEMARK_DRIVER_MODULE_LOADED;
}

void Recorder::sample_if_requested() {
    if (sample_is_requested_ && Clock::now() - last_extra_sample_ >= extra_sample_period) {
        sample_is_requested_ = false;
        last_extra_sample_ = Clock::now();
        sampler_.sample_now();
    }
}

void Recorder::take_readings() {
    for (const NvmlReading& reading : sampler_.take_readings()) {
        const auto track = tracks_.find(static_cast<uint32_t>(reading.device));
        const bool has_data = track != tracks_.end() && track->second.has_data();
        const bool may_get_data = driver_events_.owner() != EventOwner::caching_allocator;
        if (has_data || (may_get_data && driver_.contexts_on(reading.device) > 0)) {
            gpu_usage_.on_reading(reading, has_data ? track->second.replay()->reserved_bytes() : 0);
        }
    }
    for (const std::string& sentence : sampler_.take_failures()) {
        run_log_.add_data_gap(DataGapReason::nvml_failed, clock_.now(), {{"details", sentence}});
    }
    gpu_usage_.attribute_quiet_readings(read_until_);
}

void Recorder::report_devices(bool all) {
    if (all && devices_.empty()) {
        for (const int device : driver_.devices()) {
            devices_[static_cast<uint32_t>(device)] = {};  // a program without PyTorch: no record describes the device
        }
    }
    for (auto& [device, facts] : devices_) {
        const auto track = tracks_.find(device);
        if (!facts.is_reported && (all || (track != tracks_.end() && track->second.has_data()))) {
            writer_.device(static_cast<int>(device), facts.name, facts.total_bytes, facts.uuid);
            facts.is_reported = true;
        }
    }
}

void Recorder::on_end(const tidemark_record& record, std::span<const std::byte> payload) {
    Ending ending;
    switch (record.detail) {
        case TIDEMARK_END_EXITED: ending.how = ProcessEnd::exited; break;
        case TIDEMARK_END_EXCEPTION: ending.how = {ProcessEnd::exception, std::string(text_of(payload))}; break;
        case TIDEMARK_END_INTERRUPTED: ending.how = ProcessEnd::interrupted; break;
        default: ending.how = ProcessEnd::stopped;
    }
    ending.process_ended = record.detail != TIDEMARK_END_STOPPED;
    ending_ = ending;
    process_.end = clock_.time_of(record.ticks);
}

Status Recorder::commit() {
    if (Clock::now() - last_commit_ < commit_period) {
        return {};
    }
    last_commit_ = Clock::now();
    for (auto& [device, track] : tracks_) {
        track.report_progress();
    }
    report_devices(false);
    graph_.report(read_until_);
    int64_t complete_to = read_until_;
    for (const auto& [device, track] : tracks_) {
        complete_to = std::min(complete_to, track.written_until(read_until_));
    }
    const auto is_passed = writer_.commit(complete_to);
    if (!is_passed) {
        return is_passed.error();
    }
    if (*is_passed) {
        steering_.committed(complete_to);
    }
    return {};
}

void Recorder::do_every_second() {
    if (Clock::now() - last_second_ >= std::chrono::seconds(1)) {
        last_second_ = Clock::now();
        clock_.calibrate();
        source_.report();
        cost_.report(read_until_);
        update_role();
    }
}

// Reads what is in the rings now. The program may continue: later records are read only if events already read depend
// on them.
void Recorder::drain_to_the_end() {
    const auto deadline = Clock::now() + longest_last_drain;
    std::vector<uint64_t> ends;
    for (uint32_t i = 0; i < rings_.size(); ++i) {
        ends.push_back(region_.ring(i).head.load(std::memory_order_acquire));
    }
    const auto is_taken = [&] {
        for (uint32_t i = 0; i < rings_.size(); ++i) {
            const uint64_t tail = region_.ring(i).tail.load(std::memory_order_relaxed);
            if (static_cast<int64_t>(ends[i] - tail) > 0 && region_.ring(i).state.load() != RingState::free) {
                return false;
            }
        }
        return std::none_of(tracks_.begin(), tracks_.end(),
                            [](const auto& t) { return t.second.has_pending_events(); });
    };
    uint64_t taken = 1;
    while (taken > 0 && !is_taken() && Clock::now() < deadline) {
        if (writer_.pending_bytes() < writer_.most_pending_bytes()) {
            taken = drain();
        } else {
            std::this_thread::sleep_for(milliseconds(1));
        }
        if (!commit()) {
            break;  // finish() reports it
        }
    }
    advance_tracks(true);
}

}  // namespace tidemark::recorder
