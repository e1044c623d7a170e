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

constexpr uint64_t capacity = reused_slots * 8;

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
        return (words == 0 && try_push_quickly(header, slots.data(), capacity, record)) ||
               try_push(header, slots.data(), capacity, record, payload.data());
    }
    /// Checks the messages that are there, about `limit` records of them.
    void read(uint64_t limit = capacity) {
        reader.read(limit, [this](const tidemark_record& record, std::span<const std::byte> payload) {
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

TEST(Ring, HasNearlyAllItsRoomWhenTheReaderStallsAfterAReturn) {
    for (const uint64_t stall_at : {uint64_t{1}, uint64_t{100}, reused_slots / 2, reused_slots}) {
        Ring ring;
        uint64_t number = 0;
        for (; number < reused_slots * 5 + stall_at; ++number) {
            ASSERT_TRUE(ring.push(number));
            if (number % 1000 == 999 && number < reused_slots * 5) {
                ring.read();
            }
        }
        const uint64_t before = number;
        while (ring.push(number, number % 64 == 0 ? 40 : 0)) {
            ++number;
        }
        EXPECT_GT(number - before, capacity - 3 * reused_slots) << stall_at;
        ring.read();
        EXPECT_EQ(ring.next_read, number);
        for (const uint64_t end = number + capacity * 2; number < end; ++number) {
            ASSERT_TRUE(ring.push(number));
            ring.read();
        }
        EXPECT_EQ(ring.next_read, number) << "it goes on as before";
    }
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

TEST(Ring, LosesNothingInAnyOrder) {
    for (unsigned seed = 0; seed < 300 && !testing::Test::HasFailure(); ++seed) {
        std::mt19937 random(seed);
        Ring ring;
        uint64_t number = 0;
        for (int turn = 0; turn < 60; ++turn) {
            const uint64_t burst = random() % (turn % 8 == 0 ? capacity * 2 : reused_slots * 2);
            const uint32_t longest = turn % 3 == 0 ? 1000 : 1;
            for (uint64_t i = 0; i < burst && ring.push(number, static_cast<uint32_t>(random() % longest)); ++i) {
                ++number;
            }
            ring.read(random() % (turn % 5 == 0 ? capacity : reused_slots));
        }
        ring.read(UINT64_MAX);
        EXPECT_EQ(ring.next_read, number) << seed;
    }
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
