// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// A producer and a reader of one ring: no message is lost or changed, and a reader that keeps up keeps the ring small.
#include "recorder/core/ring.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include "recorder/daemon/ring_reader.h"

namespace tidemark::recorder {
namespace {

constexpr uint64_t capacity = reused_slots * 4;

struct Ring {
    RingHeader header;
    std::vector<tidemark_record> slots = std::vector<tidemark_record>(capacity);
    RingReader reader{header, slots.data(), capacity};
    uint64_t next_read = 0;

    /// `words`: of the payload, which repeat the number.
    bool push(uint64_t number, uint32_t words = 0) {
        const std::vector<uint64_t> payload(words, number);
        tidemark_record record{};
        record.kind = TIDEMARK_MARK;
        record.event.sequence = number;
        record.bytes = static_cast<uint32_t>(words * sizeof(uint64_t));
        record.extra = static_cast<uint16_t>((record.bytes + sizeof record - 1) / sizeof record);
        return try_push(header, slots.data(), capacity, record, payload.data());
    }
    /// Checks the messages that are there.
    void read() {
        reader.read(capacity, [this](const tidemark_record& record, std::span<const std::byte> payload) {
            ASSERT_EQ(record.kind, TIDEMARK_MARK);
            ASSERT_EQ(record.event.sequence, next_read);
            for (size_t at = 0; at < payload.size(); at += sizeof(uint64_t)) {
                uint64_t word = 0;
                std::memcpy(&word, payload.data() + at, sizeof word);
                ASSERT_EQ(word, next_read);
            }
            ++next_read;
        });
        EXPECT_EQ(reader.damages(), 0u);
    }
    uint64_t slots_used() const {
        const auto last =
            std::find_if(slots.rbegin(), slots.rend(), [](const tidemark_record& slot) { return slot.kind != 0; });
        return static_cast<uint64_t>(slots.rend() - last);
    }
};

TEST(Ring, UsesItsFirstSlotsWhileTheReaderKeepsUp) {
    Ring ring;
    for (uint64_t i = 0; i < capacity * 5; ++i) {
        ASSERT_TRUE(ring.push(i));
        if (i % 1000 == 999) {
            ring.read();
        }
    }
    ring.read();
    EXPECT_EQ(ring.next_read, capacity * 5);
    EXPECT_LE(ring.slots_used(), reused_slots + pushes_between_wraps_tried + 1);
}

TEST(Ring, UsesAllSlotsWhileTheReaderDoesNotReadAndThenTheFirstOnesAgain) {
    Ring ring;
    uint64_t number = 0;
    while (ring.push(number)) {
        ++number;
    }
    EXPECT_EQ(number, capacity);
    ring.read();
    std::fill(ring.slots.begin(), ring.slots.end(), tidemark_record{});
    for (const uint64_t end = number + capacity * 3; number < end; ++number) {
        ASSERT_TRUE(ring.push(number));
        ring.read();
    }
    EXPECT_EQ(ring.next_read, number);
    EXPECT_LE(ring.slots_used(), reused_slots + pushes_between_wraps_tried + 1);
}

TEST(Ring, DoesNotReturnToSlotsThatAreNotRead) {
    Ring ring;
    uint64_t number = 0;
    for (; number < reused_slots / 2; ++number) {
        ASSERT_TRUE(ring.push(number));
    }
    ring.read();  // fewer than three quarters of the first slots
    while (ring.push(number)) {
        ++number;
    }
    EXPECT_EQ(number, capacity + reused_slots / 2);
    ring.read();
    EXPECT_EQ(ring.next_read, number);
}

TEST(Ring, HasRoomForAMessageThatIsLongerThanTheSlotsBeforeTheTail) {
    Ring ring;
    uint64_t number = 0;
    for (; number < reused_slots; ++number) {
        ASSERT_TRUE(ring.push(number));
        if (number == reused_slots / 8 * 7) {
            ring.read();
        }
    }
    EXPECT_TRUE(ring.push(number++, reused_slots * 8));
    ring.read();
    EXPECT_EQ(ring.next_read, number);
}

TEST(Ring, LosesNothingBetweenThreads) {
    constexpr uint64_t messages = 400'000;
    Ring ring;
    std::thread producer([&] {
        std::mt19937 random(7);
        for (uint64_t i = 0; i < messages; ++i) {
            const uint32_t words = random() % 16 == 0 ? static_cast<uint32_t>(random() % 300) : 0;
            while (!ring.push(i, words)) {
                std::this_thread::yield();
            }
        }
    });
    std::mt19937 random(11);
    while (ring.next_read < messages && !testing::Test::HasFatalFailure()) {
        ring.read();
        if (random() % 64 == 0) {
            std::this_thread::sleep_for(std::chrono::milliseconds(static_cast<int>(random() % 8)));
        }
    }
    producer.join();
    EXPECT_EQ(ring.next_read, messages);
}

}  // namespace
}  // namespace tidemark::recorder
