// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// State that a library keeps for each thread of a program that it must not disturb.
#pragma once

#include <pthread.h>

#include <atomic>
#include <optional>
#include <utility>

namespace tidemark::recorder {

/// One `State` for each thread that asks for it. States are never destroyed, because the destructors of threads and of
/// the program may still use them; a thread that ends leaves its state, as it is, to one that starts. So a program that
/// starts a thread for each request does not grow. No lock is taken, which a fork could leave locked in the child.
template <class State>
class PerThread {
public:
    /// Returns the state of the calling thread, also while its destructors run.
    static State& here() {
        if (of_this_thread == nullptr) {
            // The key's destructor runs after those of C++, which may still use the state.
            static const std::optional<pthread_key_t> key = key_of_thread_end();
            of_this_thread = take();
            if (key) {
                pthread_setspecific(*key, of_this_thread);
            }
        }
        return of_this_thread->state;
    }

private:
    struct Kept {
        State state;
        Kept* next = nullptr;
    };

    /// Returns nothing if the program has used up the keys: then the states of threads that end are lost.
    static std::optional<pthread_key_t> key_of_thread_end() {
        pthread_key_t key{};
        const auto leave = [](void* kept) {
            of_this_thread = nullptr;
            put(*static_cast<Kept*>(kept));
        };
        return pthread_key_create(&key, leave) == 0 ? std::optional(key) : std::nullopt;
    }

    /// Takes the whole list and puts the rest back: another thread can then not have changed what is read.
    static Kept* take() {
        Kept* const taken = spare.exchange(nullptr, std::memory_order_acquire);
        if (taken == nullptr) {
            return new Kept;
        }
        if (Kept* const rest = std::exchange(taken->next, nullptr); rest != nullptr) {
            put(*rest);
        }
        return taken;
    }
    /// Puts a list before the list of spare states.
    static void put(Kept& first) noexcept {
        Kept* last = &first;
        while (last->next != nullptr) {
            last = last->next;
        }
        last->next = spare.load(std::memory_order_relaxed);
        while (!spare.compare_exchange_weak(last->next, &first, std::memory_order_release, std::memory_order_relaxed)) {
        }
    }

    // Neither has a destructor, so both can be used at any time.
    inline static thread_local Kept* of_this_thread = nullptr;
    inline static std::atomic<Kept*> spare{nullptr};
};

}  // namespace tidemark::recorder
