#include "storage/ledger/ledger.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "storage/base/units.h"
#include "storage/ledger/allocator_layers.h"
#include "storage/ledger/device_samples.h"
#include "storage/ledger/driver_layers.h"

namespace tidemark {

namespace {

constexpr std::array<std::string_view, 11> words{"requested",     "rounding",        "waiting", "free_in_segments",
                                                 "idle_segments", "private_pools",   "library", "context",
                                                 "kernels",       "other_processes", "unknown"};

/// When the first segment was there, on the trace's clock.
std::optional<int64_t> first_segment_time(const DeviceHistory& device) {
    if (device.segments.empty()) {
        return std::nullopt;
    }
    const EventNumber event = device.segments.front().alloc_event;
    return event == before_history ? device.time_of_state(0) : device.event_time[static_cast<size_t>(event)];
}

bool concerns(const Loss& loss, const DeviceHistory& device) { return loss.device < 0 || loss.device == device.device; }

}  // namespace

int64_t LedgerRow::bytes_of(LayerKind kind) const {
    int64_t bytes = 0;
    for (const Layer& layer : layers) {
        bytes += layer.kind == kind ? layer.bytes : 0;
    }
    return bytes;
}

std::string_view layer_word(LayerKind kind) { return words[static_cast<size_t>(kind)]; }

struct Ledger::Index {
    const DeviceHistory& device;
    AllocatorLayers allocator;
    DeviceSamples samples;
    std::vector<DriverLayer> driver;

    Index(const Trace& trace, const DeviceHistory& history)
        : device(history),
          allocator(trace, history),
          samples(trace, history.device),
          driver(driver_layers(trace, history.device)) {
        const auto is_context = [](const DriverLayer& layer) { return layer.kind == LayerKind::context; };
        if (std::none_of(driver.begin(), driver.end(), is_context)) {
            guess_context();
        }
    }

    LedgerRow row(EventNumber event, int64_t time) const;

private:
    void guess_context();
    /// What is known to belong to the recorded process, in bytes.
    int64_t known(EventNumber event, int64_t time) const;
    int64_t known(int64_t time) const { return known(device.events_until(time), time); }
    void add_allocator(LedgerRow& row) const;
    void add_driver(LedgerRow& row) const;
    void add_rest(LedgerRow& row) const;
};

/// Nobody measured the context: it is what the process had beyond everything known when NVML first showed it. There
/// from the first segment on, if that was earlier.
void Ledger::Index::guess_context() {
    const DeviceSamples::Reading* first = samples.first_of_process();
    const int64_t bytes = first ? first->bytes - known(first->time) : 0;
    if (bytes <= 0) {
        return;
    }
    DriverLayer context;
    context.kind = LayerKind::context;
    context.amount.change(std::min(first->time, first_segment_time(device).value_or(first->time)), bytes, 0);
    context.amount.settle();
    const auto kernels = std::find_if(driver.begin(), driver.end(),
                                      [](const DriverLayer& layer) { return layer.kind == LayerKind::kernels; });
    driver.insert(kernels, std::move(context));
}

int64_t Ledger::Index::known(EventNumber event, int64_t time) const {
    int64_t bytes = allocator.segments(event).reserved;
    for (const DriverLayer& layer : driver) {
        bytes += layer.amount.at(time).bytes;
    }
    return bytes;
}

LedgerRow Ledger::Index::row(EventNumber event, int64_t time) const {
    LedgerRow row;
    row.event = event;
    row.time = time;
    row.device_total = device.total_bytes != 0 ? device.total_bytes : samples.total_bytes();
    add_allocator(row);
    add_driver(row);
    add_rest(row);
    std::erase_if(row.layers, [](const Layer& layer) { return layer.bytes == 0; });
    return row;
}

void Ledger::Index::add_allocator(LedgerRow& row) const {
    const BlockSums blocks = allocator.blocks(row.event);
    const SegmentSums segments = allocator.segments(row.event);
    const int64_t partial = segments.reserved - blocks.active() - segments.idle - segments.private_free;
    row.layers = {{LayerKind::requested, "", blocks.requested, blocks.blocks, 0},
                  {LayerKind::rounding, "", blocks.rounding, 0, 0},
                  {LayerKind::waiting, "", blocks.waiting, blocks.waiting_blocks, 0},
                  {LayerKind::free_in_segments, "", partial, segments.partial_segments, 0},
                  {LayerKind::idle_segments, "", segments.idle, segments.idle_segments, 0},
                  {LayerKind::private_pools, "", segments.private_free, segments.private_segments, 0}};
}

void Ledger::Index::add_driver(LedgerRow& row) const {
    for (const DriverLayer& layer : driver) {
        const Amount::Value amount = layer.amount.at(row.time);
        row.layers.push_back(
            {layer.kind, layer.name, amount.bytes, layer.kind == LayerKind::library ? amount.count : 0, 0});
    }
}

/// Between samples NVML's figures move with what is known, so that what is unknown stays as it was.
void Ledger::Index::add_rest(LedgerRow& row) const {
    const int64_t now = known(row.event, row.time);
    if (const auto* process = samples.process_at(row.time)) {
        row.process_used = process->bytes + now - known(process->time);
    }
    const auto* sample = samples.device_at(row.time);
    if (!sample) {
        return;
    }
    row.sample_time = sample->time;
    row.device_used = sample->bytes + now - known(sample->time);
    int64_t unknown = *row.device_used - now;
    samples.for_each_other(row.time, [&](int64_t pid, int64_t bytes) {
        row.layers.push_back({LayerKind::other_processes, fmt::format("process {}", pid), bytes, 0, pid});
        unknown -= bytes;
    });
    row.layers.push_back({LayerKind::unknown, "", unknown, 0, 0});
}

Ledger::Ledger(std::shared_ptr<const Analysis> analysis)
    : analysis_(std::move(analysis)), index_(std::make_shared<Index>(analysis_->trace(), analysis_->device())) {}

LedgerRow Ledger::at(EventNumber event) const {
    const DeviceHistory& device = analysis_->device();
    const EventNumber n = std::clamp(event, 0, device.event_count());
    return index_->row(n, device.time_of_state(n));
}

LedgerRow Ledger::at_time(int64_t time) const { return index_->row(analysis_->device().events_until(time), time); }

std::vector<LedgerRow> Ledger::band(const std::vector<int64_t>& times) const {
    std::vector<LedgerRow> rows;
    rows.reserve(times.size());
    std::transform(times.begin(), times.end(), std::back_inserter(rows),
                   [this](int64_t time) { return at_time(time); });
    return rows;
}

std::vector<std::string> ledger_gaps(const Trace& trace, const DeviceHistory& device) {
    const DeviceSamples samples(trace, device.device);
    const bool has_calls = has_driver_calls(trace, device.device);
    std::vector<std::string> gaps;
    if (samples.empty()) {
        gaps.emplace_back(
            "NVML was not asked: what other programs, the CUDA context and the driver take is not known, and the total "
            "is not that of nvidia-smi.");
    } else if (!device.event_time.empty() && samples.first_time() > device.event_time.front()) {
        gaps.push_back(fmt::format("NVML was first asked at {}: before, there is no figure of the whole device.",
                                   format_moment(samples.first_time())));
    }
    if (!has_calls) {
        gaps.emplace_back(samples.knows_process() ? "CUDA context and libraries are not told apart: driver calls were "
                                                    "not recorded."
                                                  : "Driver calls were not recorded: memory that libraries took past "
                                                    "PyTorch's allocator is not known.");
    }
    if (!samples.empty() && !samples.knows_process()) {
        gaps.emplace_back(samples.has_processes()
                              ? "NVML's list of processes does not name the recorded one: other programs are part of "
                                "what is not explained."
                              : "NVML did not say which process uses what: other programs are part of what is not "
                                "explained.");
    }
    for (const Loss& loss : trace.losses) {
        if ((loss.kind == LossKind::not_recorded || loss.kind == LossKind::recorder_overrun) &&
            concerns(loss, device)) {
            gaps.push_back(loss.text);
        }
    }
    return gaps;
}

}  // namespace tidemark
