// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "tests/driver/stub_core.h"

#include <cstdio>
#include <mutex>
#include <utility>

namespace {

std::mutex mutex;
StubCore stub;

tidemark_ring the_ring{1, &stub.details_paused};
tidemark_ring* ring() { return &the_ring; }

int recording() { return stub.recording; }
tidemark_ring* this_thread() { return stub.recording ? ring() : nullptr; }

int push(tidemark_ring*, tidemark_record* record, const void* payload, uint32_t bytes) {
    const std::lock_guard lock(mutex);
    stub.messages.push_back({*record, std::string(static_cast<const char*>(payload), bytes)});
    return 1;
}

uint32_t text(tidemark_ring*, const char* text, size_t length) {
    const std::lock_guard lock(mutex);
    stub.texts.emplace_back(text, length);
    return static_cast<uint32_t>(stub.texts.size() - 1);
}

uint32_t stack(tidemark_ring*, uint16_t*) { return stub.stack; }
uint64_t number_driver_events(uint32_t device, uint32_t count) {
    const std::lock_guard lock(mutex);
    return std::exchange(stub.driver_events[device], stub.driver_events[device] + count);
}
uint64_t driver_events(uint32_t device) { return stub.driver_events[device]; }
int driver_owns_events() { return 0; }
void attribute(tidemark_ring*, tidemark_record* record) { record->driver.stack = stub.stack; }
void set_attribution(void (*)(tidemark_ring*, tidemark_record*)) {}
int sample_now(uint32_t) { return 0; }
void set_stack_walker(uint32_t (*)(tidemark_ring*, uint16_t*)) {}

constexpr tidemark_api api{TIDEMARK_CORE_VERSION,
                           recording,
                           this_thread,
                           push,
                           text,
                           stack,
                           sample_now,
                           set_stack_walker,
                           number_driver_events,
                           driver_events,
                           driver_owns_events,
                           attribute,
                           set_attribution};

}  // namespace

StubCore& stub_core() { return stub; }

std::vector<tidemark_record> StubCore::driver_records() const {
    std::vector<tidemark_record> records;
    for (const Message& message : messages) {
        if (message.record.kind == TIDEMARK_DRIVER) {
            records.push_back(message.record);
        }
    }
    return records;
}

std::vector<StubCore::Message> StubCore::of_kind(int kind) const {
    std::vector<Message> found;
    for (const Message& message : messages) {
        if (message.record.kind == kind) {
            found.push_back(message);
        }
    }
    return found;
}

std::vector<std::string> StubCore::data_gaps() const {
    std::vector<std::string> sentences;
    for (const Message& message : messages) {
        if (message.record.kind == TIDEMARK_DATA_GAP) {
            sentences.push_back(message.payload);
        }
    }
    return sentences;
}

extern "C" {

const tidemark_api* tidemark_core(uint32_t version) { return version == TIDEMARK_CORE_VERSION ? &api : nullptr; }

int tidemark_start_from_environment(char* error, size_t error_size) {
    std::snprintf(error, error_size, "%s", stub.start_error.c_str());
    stub.recording |= stub.starts;
    return stub.recording;
}
}
