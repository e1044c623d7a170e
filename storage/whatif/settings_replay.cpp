// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/whatif/settings_replay.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "storage/replay/memory_state.h"

namespace tidemark {

namespace {

FreeGaps gaps_in(const Analysis& analysis, EventNumber state) {
    const MemoryState memory = memory_state(analysis.device(), analysis.live(), state);
    return {static_cast<int64_t>(memory.free_in_gaps), memory.gaps};
}

/// Returns the first state with the peak in which the request that caused it is served, as in the model.
EventNumber served_state(const DeviceHistory& device, EventNumber state) {
    const bool is_next =
        state < device.event_count() && device.event_ref[static_cast<size_t>(state)].action() == Action::alloc;
    return is_next ? state + 1 : state;
}

std::optional<FailedRequest> first_failure(const DeviceHistory& device) {
    const auto oom = std::find_if(device.others.begin(), device.others.end(),
                                  [](const OtherEvent& other) { return other.action == Action::oom; });
    return oom == device.others.end() ? std::nullopt
                                      : std::optional(FailedRequest{oom->event, static_cast<int64_t>(oom->size), true});
}

RunFigures recorded_figures(const Analysis& analysis) {
    const DeviceHistory& device = analysis.device();
    const EventNumber end = device.event_count();
    const Extremes reserved = analysis.curves().peak(Series::reserved);
    const Counters counters = analysis.statistics().at(end);
    RunFigures figures;
    figures.peak_reserved = reserved.max;
    figures.peak_state = served_state(device, reserved.max_event);
    figures.peak_allocated = analysis.curves().peak(Series::allocated).max;
    figures.end_reserved = analysis.curves().value(Series::reserved, end);
    figures.driver_allocations = counters.num_device_alloc;
    figures.driver_frees = counters.num_device_free;
    if (counters.retries_known) {
        figures.retries = counters.num_alloc_retries;
    }
    figures.gaps_at_peak = gaps_in(analysis, figures.peak_state);
    figures.gaps_at_end = gaps_in(analysis, end);
    figures.failed = first_failure(device);
    figures.known_to = end;
    return figures;
}

ModelRun recorded_run(const Analysis& analysis, int64_t most_columns) {
    const EventNumber end = analysis.device().event_count();
    ModelRun run{recorded_figures(analysis), ReservedCurve(end, most_columns)};
    const EventNumber states = run.reserved.states_per_column();
    for (int64_t first = 0; first <= end; first += states) {
        const EventNumber last = static_cast<EventNumber>(std::min<int64_t>(first + states - 1, end));
        const auto column = analysis.curves().extremes(Series::reserved, static_cast<EventNumber>(first), last);
        run.reserved.add(static_cast<EventNumber>(first), column.min);
        run.reserved.add(static_cast<EventNumber>(first), column.max);
    }
    return run;
}

RunFigures figures_of(const Outcome& outcome) {
    RunFigures figures;
    figures.peak_reserved = outcome.peak_reserved;
    figures.peak_state = static_cast<EventNumber>(outcome.peak_reserved_event);
    figures.peak_allocated = outcome.peak_allocated;
    figures.end_reserved = outcome.end_reserved;
    figures.driver_allocations = outcome.driver_allocations;
    figures.driver_frees = outcome.driver_frees;
    figures.retries = outcome.retries;
    figures.gaps_at_peak = outcome.gaps_at_peak;
    figures.gaps_at_end = outcome.gaps_at_end;
    if (outcome.fails_at) {
        figures.failed = FailedRequest{*outcome.fails_at, outcome.failed_bytes, true};
    }
    figures.known_to = outcome.replayed;
    return figures;
}

/// Returns the limit of replays for which no other one is asked: what refusals of the driver show, else the whole
/// device.
std::optional<Capacity> usual_capacity(const Trace& trace, const DeviceHistory& device, const HiddenInputs& inputs) {
    const auto seen = find_capacity(trace, device);
    if (seen && (seen->is_exact || seen->at_most != INT64_MAX)) {
        return seen;
    }
    // The recorded garbage collector works towards its own limit, which is not the device.
    if (device.total_bytes <= 0 || inputs.memory_limit != 0) {
        return std::nullopt;
    }
    return Capacity{device.total_bytes, true, device.total_bytes + 1};
}

/// Replays with what the recording tells about the driver, or with the asked limit.
Result<ModelRun> model_run(const Analysis& analysis, const Change& change, const std::optional<Capacity>& capacity,
                           const HiddenInputs& inputs, int64_t most_columns, Progress& progress) {
    const EventNumber end = analysis.device().event_count();
    ReservedCurve curve(end, most_columns);
    const auto outcome = what_if(analysis.trace(), analysis.device(), change, capacity, inputs, curve, progress);
    if (!outcome) {
        return outcome.error();
    }
    ModelRun run{figures_of(*outcome), std::move(curve)};
    if (run.figures.failed && capacity && !capacity->is_exact && capacity->at_most != INT64_MAX) {
        ReservedCurve unused(end, 1);
        const Capacity largest{capacity->at_most - 1, true, capacity->at_most};
        const auto again = what_if(analysis.trace(), analysis.device(), change, largest, inputs, unused, progress);
        if (!again) {
            return again.error();
        }
        run.figures.failed->is_sure = !again->fits;
    }
    return run;
}

void count_steps(const DeviceHistory& device, RecordedRun& run) {
    for (const RepeatedSteps& steps : device.repeats) {
        (steps.are_details_deleted() ? run.unknown_steps : run.repeated_steps) += std::max<int64_t>(steps.count, 1);
    }
}

bool uses_other_backend(const Trace& trace) {
    const auto setting = trace.settings.find("PYTORCH_CUDA_ALLOC_CONF");
    return setting != trace.settings.end() && setting->second.find("backend:cudaMallocAsync") != std::string::npos;
}

}  // namespace

double RecordedRun::deviation() const {
    const double recorded_peak = static_cast<double>(std::max<int64_t>(recorded.figures.peak_reserved, 1));
    return static_cast<double>(model.figures.peak_reserved - recorded.figures.peak_reserved) / recorded_peak;
}

Status check_replayable(const Trace& trace, const DeviceHistory& device) {
    if (uses_other_backend(trace)) {
        return input_error(
            "The program used backend:cudaMallocAsync, where the driver divides the memory. The model is that of "
            "PyTorch's native allocator: record the program without this setting to try others.");
    }
    if (trace.event_source == EventSource::driver) {
        return input_error(
            "The program did not use PyTorch's caching allocator, so its settings have no effect. Only traces of "
            "PyTorch programs with the native allocator can be replayed.");
    }
    if (device.event_count() == 0) {
        return input_error(
            "The trace has no events of the caching allocator on this device. Record from the start of the program to "
            "try settings.");
    }
    return {};
}

Result<RecordedRun> replay_as_recorded(const Analysis& analysis, int64_t most_columns, Progress& progress) {
    const Trace& trace = analysis.trace();
    const DeviceHistory& device = analysis.device();
    TIDEMARK_TRY(check_replayable(trace, device));
    InferredInputs inferred = infer_inputs(trace, device, progress);
    const std::optional<Capacity> capacity = usual_capacity(trace, device, inferred.inputs);
    auto model = model_run(analysis, {}, capacity, inferred.inputs, most_columns, progress);
    if (!model) {
        return model.error();
    }
    RecordedRun run{recorded_run(analysis, most_columns),
                    std::move(*model),
                    std::move(inferred.check),
                    std::move(inferred.inputs),
                    capacity,
                    0,
                    0};
    count_steps(device, run);
    return run;
}

Result<ModelRun> replay_with(const Analysis& analysis, const RecordedRun& recorded, const AskedSettings& asked,
                             int64_t most_columns, Progress& progress) {
    if (asked.change.garbage_collection_threshold.value_or(0) > 0 && !asked.limit &&
        recorded.inputs.memory_limit == 0) {
        return usage_error(
            "Garbage collection works towards a part of the memory limit of the process: set a memory limit, too.");
    }
    const auto capacity =
        asked.limit ? std::optional(Capacity{*asked.limit, true, *asked.limit + 1}) : recorded.capacity;
    return model_run(analysis, asked.change, capacity, recorded.inputs, most_columns, progress);
}

Result<std::optional<int64_t>> smallest_limit(const Analysis& analysis, const RecordedRun& recorded,
                                              const AskedSettings& asked, Progress& progress) {
    constexpr int64_t step = 2 << 20;  // the smallest segment
    const auto completes = [&](int64_t steps) -> Result<bool> {
        const auto run = replay_with(analysis, recorded, {asked.change, steps * step}, 1, progress);
        if (!run) {
            return run.error();
        }
        return !run->figures.failed;
    };
    int64_t fails = 0, fits = std::max<int64_t>(analysis.curves().peak(Series::reserved).max / step, 1) * 4;
    const auto with_most = completes(fits);
    if (!with_most) {
        return with_most.error();
    }
    if (!*with_most) {
        return std::optional<int64_t>();
    }
    while (fits - fails > 1) {
        const int64_t middle = fails + (fits - fails) / 2;
        const auto found = completes(middle);
        if (!found) {
            return found.error();
        }
        (*found ? fits : fails) = middle;
    }
    const bool is_known = fits * step >= analysis.curves().value(Series::reserved, 0);
    return is_known ? std::optional(fits * step) : std::nullopt;
}

}  // namespace tidemark
