// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The recorder process: reads the rings of the program's threads and writes the trace.
#pragma once

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "recorder/daemon/control_server.h"
#include "recorder/daemon/cost_log.h"
#include "recorder/daemon/definitions.h"
#include "recorder/daemon/device_track.h"
#include "recorder/daemon/driver_events.h"
#include "recorder/daemon/driver_log.h"
#include "recorder/daemon/gpu_usage.h"
#include "recorder/daemon/graph_log.h"
#include "recorder/daemon/nvml_sampler.h"
#include "recorder/daemon/options.h"
#include "recorder/daemon/program_facts.h"
#include "recorder/daemon/program_monitor.h"
#include "recorder/daemon/ring_reader.h"
#include "recorder/daemon/run_log.h"
#include "recorder/daemon/scan_requests.h"
#include "recorder/daemon/session_folder.h"
#include "recorder/daemon/site_labels.h"
#include "recorder/daemon/source_log.h"
#include "recorder/daemon/steering.h"
#include "recorder/daemon/tick_clock.h"
#include "storage/write/trace_place.h"

namespace tidemark::recorder {

class Recorder {
public:
    /// What the recording consists of. All must outlive the recorder.
    struct Parts {
        const Options& options;
        const ProgramFacts& program;
        MappedRegion& region;
        TickClock& clock;
        SessionFolder& session;
        TracePlace& place;
        ControlServer& control;
    };
    Recorder(const Parts& parts, StreamingWriter writer);
    ~Recorder();

    /// Records until the program ends or stops the recording, or `stop_signal` is the number of a signal. Moves the
    /// trace to its destination. Returns an error if writing or moving fails; the trace then contains everything
    /// committed before, and lies where it was written.
    Status run(const std::atomic<int>& stop_signal);

private:
    using Clock = std::chrono::steady_clock;

    /// A ring with the thread that uses it now.
    struct RingInUse {
        RingReader reader;
        ThreadDefinitions* thread = nullptr;
    };
    struct DeviceFacts {
        std::string name, pci_bus_id, uuid;
        int64_t total_bytes = 0;
        bool is_reported = false;  ///< it has a row; devices that the program does not use get none
    };
    /// How the recording ended, for the row of the process.
    struct Ending {
        Fact<ProcessEnd> how;
        std::optional<int64_t> exit_status;
        bool process_ended = false;
    };

    Status record(const std::atomic<int>& stop_signal);
    bool must_end(const std::atomic<int>& stop_signal);
    /// Reads the rings. Returns the number of records.
    uint64_t drain();
    /// Applies the events that are next in order and passes the results to the other logs.
    void advance_tracks(bool at_end);
    uint64_t read_some(uint32_t index);
    void drain_to_the_end();
    void on_message(ThreadDefinitions& thread, const tidemark_record& record, std::span<const std::byte> payload);
    void on_device(const tidemark_record& record, std::span<const std::byte> payload);
    void report_devices(bool all);
    void on_out_of_memory(const tidemark_record& record);
    void on_end(const tidemark_record& record, std::span<const std::byte> payload);
    /// Returns the track of a device, which it creates if it is new; nullptr beyond the number of devices of a trace.
    DeviceTrack* track(uint32_t device);
    /// Returns the track whose allocations are tensors; nullptr if the numbers of events in messages about tensors are
    /// not those of the track.
    DeviceTrack* track_of_tensors(uint32_t device) { return run_log_.is_allocator_late() ? nullptr : track(device); }
    /// Returns the record with a time that can be true, and its payload with texts that the trace can have.
    std::pair<tidemark_record, std::span<const std::byte>> limited(const tidemark_record& record,
                                                                   std::span<const std::byte> payload);
    void on_state(const tidemark_record& record, const ThreadDefinitions& thread);
    TorchUse torch_use() const;
    void for_each_block(const SiteWatch::VisitBlock& visit) const;
    uint64_t number_of(uint32_t device, uint64_t sequence) const;
    /// Returns nothing if the number may still change.
    std::optional<uint64_t> final_number_of(uint32_t device, uint64_t sequence) const;
    void check_program();
    void begin_process();
    void update_role();
    void on_rank(const tidemark_record& record);
    void await_exit_status();
    void take_readings();
    /// Requests an NVML sample after a context was created or a module was loaded: no record has their size.
    void keep_details();
    void request_sample_after(const tidemark_record& driver_record);
    void sample_if_requested();
    Status commit();
    void do_every_second();
    /// Tells commands about the recording, a few times per second.
    void publish_status();
    void report_process();
    void report_dropped_records();
    void report_limits();
    /// Records why there are no allocator events, if there are none.
    void report_no_events();
    void report_no_events(DataGapReason reason, DataGapArguments arguments = {});
    SessionReport report(const std::string& state) const;
    Status finish();

    const Options options_;
    const ProgramFacts& facts_;
    MappedRegion& region_;
    TickClock& clock_;
    SessionFolder& session_;
    TracePlace& place_;
    ControlServer& control_;
    StreamingWriter writer_;
    Origins origins_{writer_};
    Definitions definitions_{writer_, origins_};
    RunLog run_log_{writer_, clock_};
    Steering steering_{control_, region_.header(), run_log_, clock_};
    CostLog cost_{writer_, clock_};
    DriverLog driver_{writer_, definitions_, clock_};
    DriverEvents driver_events_;
    SourceLog source_;
    SiteLabels site_labels_{writer_};
    GraphLog graph_{writer_, definitions_, origins_, clock_, source_, site_labels_, [this](uint32_t device) {
                        return track_of_tensors(device);
                    }};
    GpuUsage gpu_usage_;
    NvmlSampler sampler_;
    ScanRequests scan_requests_;
    ProgramMonitor program_;
    std::vector<RingInUse> rings_;
    NumberBudget budget_;
    std::map<uint32_t, DeviceTrack> tracks_;
    std::map<uint32_t, DeviceFacts> devices_;
    Process process_;
    std::optional<Ending> ending_;
    Clock::time_point last_commit_, last_check_, last_second_, last_extra_sample_, last_status_;
    int times_kept_ = 0;
    int64_t texts_cut_ = 0, times_refused_ = 0, records_of_refused_devices_ = 0;
    bool sample_is_requested_ = false, torch_uses_cuda_ = false;
    int64_t read_until_ = 0;  ///< trace time when the rings were last read
    const bool is_adaptive_;  ///< repeated steps are not written
};

}  // namespace tidemark::recorder
