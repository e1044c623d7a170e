// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/core/core.h"

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>

#include "recorder/core/environment.h"
#include "recorder/core/pause.h"
#include "recorder/core/rank.h"
#include "recorder/core/recording.h"

using tidemark::recorder::environment;
using tidemark::recorder::is_paused;
using tidemark::recorder::Recording;
using tidemark::recorder::recording_is_requested;
using tidemark::recorder::ThreadRing;

namespace {

// The current recording. A forked child clears it: the rings belong to the parent's threads.
std::atomic<Recording*> current{nullptr};
std::atomic<uint32_t (*)(tidemark_ring*, uint16_t*)> walk_stack{nullptr};
std::atomic<void (*)(tidemark_ring*, tidemark_record*)> attribution{nullptr};
std::mutex start_mutex;
pthread_key_t thread_end;

struct ThreadPart {
    Recording* recording = nullptr;
    ThreadRing* ring = nullptr;
};
thread_local ThreadPart this_thread_part;

/// Runs at the end of a thread. Destructors that run later may still free GPU memory; they get a new ring.
void retire_ring(void* ring) {
    this_thread_part = {};
    Recording::retire(static_cast<ThreadRing*>(ring));
}

void forget_in_child() {
    current.store(nullptr, std::memory_order_relaxed);
    this_thread_part = {};
    pthread_setspecific(thread_end, nullptr);
    new (&start_mutex) std::mutex;  // another thread of the parent may have locked it
}

void prepare_process() {
    static std::once_flag once;
    std::call_once(once, [] {
        pthread_key_create(&thread_end, retire_ring);
        pthread_atfork(nullptr, nullptr, forget_in_child);
    });
}

Recording* active_recording() {
    Recording* recording = current.load(std::memory_order_acquire);
    return recording != nullptr && recording->active() ? recording : nullptr;
}

int recording_now() {
    const Recording* recording = active_recording();
    return recording == nullptr ? 0 : recording->number();
}

ThreadRing* claim_for_this_thread(Recording* recording) {
    if (this_thread_part.ring != nullptr) {
        Recording::retire(this_thread_part.ring);
    }
    this_thread_part = {recording, recording->claim_ring()};
    pthread_setspecific(thread_end, this_thread_part.ring);
    return this_thread_part.ring;
}

ThreadRing* ring_of_this_thread() {
    Recording* recording = active_recording();
    if (recording == nullptr) {
        return nullptr;
    }
    return this_thread_part.recording == recording ? this_thread_part.ring : claim_for_this_thread(recording);
}

tidemark_ring* this_thread() { return ring_of_this_thread(); }

int push_record(tidemark_ring* ring, tidemark_record* record, const void* payload, uint32_t bytes) {
    auto& own = *static_cast<ThreadRing*>(ring);
    return own.recording->push(own, *record, payload, bytes);
}

uint32_t text_id(tidemark_ring* ring, const char* text, size_t length) {
    auto& own = *static_cast<ThreadRing*>(ring);
    return own.recording->text(own, std::string_view(text, length));
}

uint32_t stack_id(tidemark_ring* ring, uint16_t* lines) {
    if (is_paused(*ring)) {
        return 0;
    }
    const auto walk = walk_stack.load(std::memory_order_relaxed);
    return walk == nullptr ? 0 : walk(ring, lines);
}

int sample_now(uint32_t wait_ms) {
    Recording* recording = active_recording();
    return recording != nullptr && recording->sample_now(wait_ms);
}

void set_stack_walker(uint32_t (*walk)(tidemark_ring*, uint16_t*)) {
    walk_stack.store(walk, std::memory_order_relaxed);
}

uint64_t number_driver_events(uint32_t device, uint32_t count) {
    Recording* recording = active_recording();
    return recording == nullptr ? 0 : recording->number_driver_events(device, count);
}

uint64_t driver_events(uint32_t device) {
    const Recording* recording = active_recording();
    return recording == nullptr ? 0 : recording->driver_events(device);
}

int driver_owns_events() {
    const Recording* recording = active_recording();
    return recording != nullptr && recording->driver_owns_events();
}

void attribute(tidemark_ring* ring, tidemark_record* record) {
    if (const auto function = attribution.load(std::memory_order_relaxed)) {
        function(ring, record);
    } else {
        record->driver.stack = stack_id(ring, nullptr);
    }
}

void set_attribution(void (*function)(tidemark_ring*, tidemark_record*)) {
    attribution.store(function, std::memory_order_relaxed);
}

constexpr tidemark_api api{TIDEMARK_CORE_VERSION,
                           recording_now,
                           this_thread,
                           push_record,
                           text_id,
                           stack_id,
                           sample_now,
                           set_stack_walker,
                           number_driver_events,
                           driver_events,
                           driver_owns_events,
                           attribute,
                           set_attribution};

void report(const std::string& sentence, char* buffer, size_t size) {
    if (buffer != nullptr && size > 0) {
        std::snprintf(buffer, size, "%s", sentence.c_str());
    }
}

}  // namespace

extern "C" {

TIDEMARK_EXPORT int tidemark_start(const tidemark_options* options, char* sentence, size_t sentence_size) {
    prepare_process();
    const std::lock_guard lock(start_mutex);
    report("", sentence, sentence_size);
    if (active_recording() != nullptr) {
        return 1;
    }
    std::string told;
    Recording* recording = Recording::start(*options, told);
    report(told, sentence, sentence_size);
    if (recording == nullptr) {
        return 0;
    }
    current.store(recording, std::memory_order_release);
    return 1;
}

TIDEMARK_EXPORT int tidemark_is_selected(void) { return tidemark::recorder::process_is_selected() ? 1 : 0; }

TIDEMARK_EXPORT int tidemark_start_from_environment(char* sentence, size_t sentence_size) {
    report("", sentence, sentence_size);
    if (recording_now()) {
        return 1;
    }
    if (!recording_is_requested()) {
        return 0;
    }
    const std::string home(environment("TIDEMARK_HOME")), session(environment("TIDEMARK_SESSION"));
    const std::string recorder = home + "/tidemark-recorder";
    const std::string named(environment("TIDEMARK_OUTPUT")), output = named.empty() ? "run.tide" : named;
    const tidemark_options options{
        recorder.c_str(),
        output.c_str(),
        session.empty() ? nullptr : session.c_str(),
        std::strtoull(std::string(environment("TIDEMARK_RING_RECORDS")).c_str(), nullptr, 10),
        environment("TIDEMARK_FORCE") == "1",
        1};
    return tidemark_start(&options, sentence, sentence_size);
}

TIDEMARK_EXPORT int tidemark_stop(int how, const char* sentence, uint32_t wait_ms) {
    Recording* recording = active_recording();
    if (recording == nullptr) {
        return 0;
    }
    if (ThreadRing* ring = ring_of_this_thread()) {
        tidemark_record record{};
        record.kind = TIDEMARK_END;
        record.detail = static_cast<uint8_t>(how);
        const size_t length = sentence == nullptr ? 0 : strnlen(sentence, 4096);
        recording->push(*ring, record, sentence, static_cast<uint32_t>(length));
    }
    return recording->end(wait_ms);
}

TIDEMARK_EXPORT uint32_t tidemark_scans_wanted(void) {
    const Recording* recording = active_recording();
    return recording == nullptr ? 0 : recording->scans_wanted();
}

TIDEMARK_EXPORT int tidemark_growing_blocks(uint64_t* addresses, int capacity) {
    const Recording* recording = active_recording();
    return recording == nullptr || capacity <= 0
               ? 0
               : static_cast<int>(recording->growing_blocks({addresses, static_cast<size_t>(capacity)}));
}

TIDEMARK_EXPORT int tidemark_details_paused(void) {
    const Recording* recording = active_recording();
    return recording != nullptr && recording->details_paused();
}

TIDEMARK_EXPORT uint32_t tidemark_full_scans_wanted(void) {
    const Recording* recording = active_recording();
    return recording == nullptr ? 0 : recording->full_scans_wanted();
}

TIDEMARK_EXPORT void tidemark_full_scans_made(uint32_t number) {
    if (Recording* recording = active_recording()) {
        recording->full_scans_made(number);
    }
}

TIDEMARK_EXPORT void tidemark_serve_scans(int serves) {
    if (Recording* recording = active_recording()) {
        recording->serve_scans(serves != 0);
    }
}

TIDEMARK_EXPORT const char* tidemark_output(void) {
    Recording* recording = current.load(std::memory_order_acquire);
    return recording == nullptr ? "" : recording->output();
}

TIDEMARK_EXPORT const char* tidemark_end_notice(void) {
    Recording* recording = current.load(std::memory_order_acquire);
    return recording == nullptr ? "" : recording->end_notice();
}

TIDEMARK_EXPORT const tidemark_api* tidemark_core(uint32_t version) {
    return version == TIDEMARK_CORE_VERSION ? &api : nullptr;
}

}  // extern "C"
