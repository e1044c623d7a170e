// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Memory of small objects that one thread creates and another one destroys, many at a time: malloc() would take its
// slow paths for both.
#pragma once

#include <atomic>
#include <cstddef>
#include <new>
#include <utility>

#include "recorder/core/per_thread.h"

namespace tidemark::recorder {

/// Memory for objects of `Object`, which is used again and never returned to the system. Threads pass it on in batches.
/// Any thread may call, also while its destructors run.
template <class Object>
class SpareMemory {
public:
    /// Throws std::bad_alloc.
    static void* take() {
        List& own = PerThread<Lists>::here().to_take;
        if (own.first == nullptr) {
            refill(own);
        }
        return std::exchange(own.first, own.first->next);
    }

    static void give(void* memory) noexcept {
        Batch& own = PerThread<Lists>::here().given;
        own.first = ::new (memory) Spare{own.first};
        own.last = own.last == nullptr ? own.first : own.last;
        if (++own.count == batch) {
            share(std::exchange(own, {}));
        }
    }

private:
    static constexpr size_t batch = 64;

    struct Spare {
        Spare* next;
    };
    struct List {
        Spare* first = nullptr;
    };
    struct Batch {
        Spare* first = nullptr;
        Spare* last = nullptr;
        size_t count = 0;
    };
    struct Lists {
        List to_take;
        Batch given;
    };
    union Memory {
        Spare spare;
        alignas(Object) std::byte object[sizeof(Object)];
    };

    /// Takes the whole list of the other threads: another thread can then not have changed what is read.
    static void refill(List& own) {
        own.first = shared.exchange(nullptr, std::memory_order_acquire);
        if (own.first == nullptr) {
            auto* const added = static_cast<Memory*>(::operator new(batch * sizeof(Memory)));
            for (size_t i = 0; i < batch; ++i) {
                own.first = ::new (&added[i]) Spare{own.first};
            }
        }
    }

    static void share(const Batch& given) noexcept {
        given.last->next = shared.load(std::memory_order_relaxed);
        while (!shared.compare_exchange_weak(given.last->next, given.first, std::memory_order_release,
                                             std::memory_order_relaxed)) {
        }
    }

    inline static std::atomic<Spare*> shared{nullptr};
};

}  // namespace tidemark::recorder
