// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/driver/driver.h"

#include <pthread.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <mutex>
#include <new>
#include <string>
#include <string_view>

#include "recorder/core/callback_cost.h"
#include "recorder/core/core.h"
#include "recorder/core/environment.h"
#include "recorder/core/pause.h"
#include "recorder/core/rank.h"
#include "recorder/driver/call_stack.h"
#include "recorder/driver/cuda_driver.h"
#include "recorder/driver/driver_calls.h"
#include "storage/trace/vocabulary.h"

namespace tidemark::recorder {
namespace {

/// Never destroyed, because the driver calls back after the destructors of static objects have run.
struct Listener {
    const tidemark_api& core;
    const CuptiLibrary& cupti;
    DriverCalls* calls;
    cupti::Subscriber subscriber = nullptr;
    bool listening = false;
    /// Whether the first change starts the recording that the environment requests. Many processes (launchers, data
    /// loaders) only count the GPUs and need no recording.
    std::atomic<bool> starts_recording{false};
};
Listener* listener = nullptr;
std::mutex listener_mutex;

void push(const tidemark_api& core, tidemark_record record, std::string_view payload = {}) {
    if (tidemark_ring* ring = core.this_thread()) {
        core.push(ring, &record, payload.data(), static_cast<uint32_t>(payload.size()));
    }
}

tidemark_record driver_record(const DriverChange& change) {
    tidemark_record record{};
    record.kind = TIDEMARK_DRIVER;
    record.detail = static_cast<uint8_t>(change.action);
    record.ticks = change.ticks;
    record.driver.address = change.address;
    record.driver.size = change.size;
    record.driver.handle = change.handle;
    record.driver.device = static_cast<uint8_t>(change.device);
    record.driver.memory = static_cast<uint8_t>(change.memory);
    record.driver.sequence = change.sequence;
    record.driver.events = change.events;
    return record;
}

/// Describes a device once per recording.
void report_device(const tidemark_api& core, int device) {
    static std::array<std::atomic<int>, TIDEMARK_NO_DEVICE> reported{};
    const int recording = core.recording();
    if (device < 0 || device >= TIDEMARK_NO_DEVICE ||
        reported[static_cast<size_t>(device)].exchange(recording) == recording) {
        return;
    }
    if (const auto facts = cuda_driver::facts_of(device)) {
        tidemark_record record{};
        record.kind = TIDEMARK_DEVICE;
        record.detail = TIDEMARK_DEVICE_FROM_DRIVER;
        record.device.device = static_cast<uint32_t>(device);
        record.device.total_bytes = facts->total_bytes;
        push(core, record, facts->name + '\0' + facts->pci_bus_id + '\0' + facts->uuid);
    }
}

/// Sets the Python stack of the call, or its native one if it has none.
void attribute(const tidemark_api& core, tidemark_ring* ring, const CallStack& stack, tidemark_record& record) {
    core.attribute(ring, &record);
    if (record.driver.stack == 0) {
        record.driver.stack = stack.id(core, ring);
        record.driver.stack_thread = 0;
    }
}

/// Sends the changes of one call. They have the same stack and source, and none in a pause.
void record(const tidemark_api& core, const DriverChanges& changes) {
    tidemark_ring* ring = changes.empty() ? nullptr : core.this_thread();
    if (ring == nullptr) {
        return;
    }
    const CallStack* stack = is_paused(*ring) ? nullptr : &CallStack::here();
    const std::string_view source = stack == nullptr ? std::string_view() : stack->source();
    const uint32_t source_id = source.empty() ? 0 : core.text(ring, source.data(), source.size());
    for (const DriverChange& change : changes) {
        report_device(core, change.device);
        tidemark_record record = driver_record(change);
        record.driver.source = static_cast<uint16_t>(source_id <= UINT16_MAX ? source_id : 0);
        if (stack != nullptr) {
            attribute(core, ring, *stack, record);
        }
        core.push(ring, &record, nullptr, 0);
    }
}

void report_capture(const Listener& active, tidemark_driver_action action) {
    push(active.core, driver_record({action}));
}

void start_recording(const Listener& active) {
    std::array<char, 2048> sentence{};
    if (tidemark_start_from_environment(sentence.data(), sentence.size()) != 0) {
        report_capture(active, TIDEMARK_DRIVER_CAPTURE_ON);
    } else if (sentence[0] != '\0') {
        std::fprintf(stderr, "tidemark: %s\n", sentence.data());
    }
}

/// Calls that allocate are few, so each is measured.
thread_local CallbackCost cost_of_thread{1};

void called_back(void* user, cupti::Domain domain, uint32_t id, const void* data) {
    auto& active = *static_cast<Listener*>(user);
    cost_of_thread.enter();
    try {
        const DriverChanges changes = active.calls->on_callback(domain, id, data);
        if (!changes.empty() && active.starts_recording.load(std::memory_order_relaxed) &&
            active.starts_recording.exchange(false)) {
            start_recording(active);
        }
        record(active.core, changes);
    } catch (const std::bad_alloc&) {
        // The driver call of the program must continue, so the change is not recorded.
    }
    if (cost_of_thread.leave()) {
        push(active.core, cost_of_thread.take());
    }
}

/// Resets the state in a forked child: a thread that does not exist there may own the lock. The child inherits the
/// subscription.
void reset_in_child() {
    new (&listener_mutex) std::mutex;
    if (listener != nullptr) {
        listener->calls = new DriverCalls(listener->core, listener->cupti);
    }
}

/// The reason why CUPTI cannot be used: a word of DataGapReason and its details for the trace, a sentence for the user.
struct Failure {
    std::string reason, details, sentence;
    bool empty() const { return sentence.empty(); }
};

std::string busy_sentence(const char* subscriber) {
    const std::string who = *subscriber == '\0' ? "another tool" : std::string(subscriber);
    return "Driver memory is not recorded, because CUPTI is in use by " + who +
           "; run without that tool (nsys, ncu, torch.profiler, cuda-gdb) to record it.";
}

Failure failure_of(const CuptiLibrary& cupti, int result, const char* subscriber) {
    switch (result) {
        case cupti::multiple_subscribers:
        case cupti::max_limit_reached: return {"cupti_busy", subscriber, busy_sentence(subscriber)};
        case cupti::insufficient_privileges:
        case cupti::virtualized_insufficient_privileges:
            return {"cupti_forbidden", "",
                    "Driver memory is not recorded, because this user may not use CUPTI; allow it with "
                    "the driver option NVreg_RestrictProfilingToAdminUsers=0."};
        default:
            return {"cupti_failed", cupti.reason(result),
                    "Driver memory is not recorded, because CUPTI failed (" + cupti.reason(result) +
                        "); try a CUPTI library of the CUDA version that the program uses."};
    }
}

/// Returns 0, or CUPTI's error with the name of the current subscriber if CUPTI reports one.
int subscribe(Listener& active, std::array<char, cupti::old_subscriber_name_size>& subscriber) {
    if (active.cupti.subscribe_v2 != nullptr) {
        cupti::SubscriberParams params{sizeof params, "Tidemark", subscriber.data(), subscriber.size()};
        return active.cupti.subscribe_v2(&active.subscriber, called_back, &active, &params);
    }
    return active.cupti.subscribe(&active.subscriber, called_back, &active);
}

/// Subscribes unless it is subscribed already. Returns an empty failure on success.
Failure listen(Listener& active) {
    if (!active.listening) {
        std::array<char, cupti::old_subscriber_name_size> subscriber{};
        if (const int result = subscribe(active, subscriber); result != cupti::success) {
            subscriber.back() = '\0';
            return failure_of(active.cupti, result, subscriber.data());
        }
        for (const CallbackId& wanted : wanted_callbacks()) {
            // If this CUPTI lacks a callback, the CUDA version of the program lacks the function.
            active.cupti.enable_callback(1, active.subscriber, wanted.domain, wanted.id);
        }
        active.listening = true;
    }
    report_capture(active, TIDEMARK_DRIVER_CAPTURE_ON);
    return {};
}

Failure attach(const tidemark_api& core) {
    const std::lock_guard lock(listener_mutex);
    if (listener == nullptr) {
        const CuptiLibrary* cupti = CuptiLibrary::load();
        if (cupti == nullptr) {
            return {"cupti_missing", "",
                    "Driver memory is not recorded, because CUPTI was not found; it comes with PyTorch "
                    "for CUDA and with the CUDA Toolkit, and TIDEMARK_CUPTI can be set to the path of its library."};
        }
        prepare_call_stacks();
        pthread_atfork(nullptr, nullptr, reset_in_child);
        listener = new Listener{core, *cupti, new DriverCalls(core, *cupti)};
    }
    return listen(*listener);
}

void record_data_gap(const tidemark_api& core, const Failure& failure) {
    tidemark_record data_gap{};
    data_gap.kind = TIDEMARK_DATA_GAP;
    data_gap.detail = static_cast<uint8_t>(DataGapKind::not_recorded);
    push(core, data_gap, failure.reason + '\0' + failure.details);
}

}  // namespace
}  // namespace tidemark::recorder

using namespace tidemark::recorder;

extern "C" {

TIDEMARK_EXPORT int InitializeInjection(void) {
    const tidemark_api* core = tidemark_core(TIDEMARK_CORE_VERSION);
    const bool is_recording = core != nullptr && core->recording() != 0;
    // A child process may inherit the injection without a recording; then it does not subscribe.
    if ((is_recording || recording_is_requested()) && part_is_requested("driver") &&
        tidemark_driver_attach(nullptr, 0) != 0) {
        const std::lock_guard lock(listener_mutex);
        listener->starts_recording = !is_recording;
    }
    return 1;
}

TIDEMARK_EXPORT int tidemark_driver_attach(char* sentence, size_t sentence_size) {
    const tidemark_api* core = tidemark_core(TIDEMARK_CORE_VERSION);
    Failure failure{"cupti_failed", "",
                    "Tidemark's driver part and its core have different versions; reinstall Tidemark."};
    try {
        if (core != nullptr) {
            failure = attach(*core);
        }
        if (core != nullptr && !failure.empty()) {
            record_data_gap(*core, failure);
        }
    } catch (const std::bad_alloc&) {
        failure.sentence = "Driver memory is not recorded, because there is not enough host memory.";
    }
    if (sentence != nullptr && sentence_size > 0) {
        std::snprintf(sentence, sentence_size, "%s", failure.sentence.c_str());
    }
    return failure.empty();
}

TIDEMARK_EXPORT void tidemark_driver_pause(void) {
    const std::lock_guard lock(listener_mutex);
    if (listener != nullptr && listener->listening) {
        listener->cupti.unsubscribe(listener->subscriber);
        listener->listening = false;
        report_capture(*listener, TIDEMARK_DRIVER_CAPTURE_OFF);
    }
}

TIDEMARK_EXPORT int tidemark_driver_resume(void) {
    const std::lock_guard lock(listener_mutex);
    return listener != nullptr && (listener->listening || listen(*listener).empty());
}

TIDEMARK_EXPORT int tidemark_driver_place_of(uint64_t address, tidemark_driver_place* place) {
    DriverCalls* calls = nullptr;
    {
        const std::lock_guard lock(listener_mutex);
        calls = listener == nullptr ? nullptr : listener->calls;
    }
    const auto found = calls == nullptr ? std::nullopt : calls->place_of(address);
    if (!found || found->block.device < 0) {
        return 0;
    }
    *place = {found->block.address, found->events, static_cast<uint32_t>(found->block.device)};
    return 1;
}

}  // extern "C"
