// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// An array that grows without moving its items: no memory peak from doubling, stable addresses, and unused chunks are
// returned to the system early.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>
#include <vector>

namespace tidemark {

/// Chunks are mapped, not allocated on the heap, because the heap keeps freed memory between live allocations.
template <class T, size_t chunk_items>
class ChunkedArray {
public:
    static_assert((chunk_items & (chunk_items - 1)) == 0);
    static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);
    static constexpr size_t chunk_size = chunk_items;

    size_t size() const { return size_; }
    T& operator[](size_t index) { return chunks_[index / chunk_items].get()[index % chunk_items]; }
    const T& operator[](size_t index) const { return chunks_[index / chunk_items].get()[index % chunk_items]; }

    void push_back(const T& item) {
        if (size_ == chunks_.size() * chunk_items) {
            chunks_.push_back(map_chunk());
        }
        new (&(*this)[size_++]) T(item);
    }

    void grow_to(size_t size, const T& filler) {
        while (size_ < size) {
            push_back(filler);
        }
    }

    /// Frees a chunk. Its items must not be accessed afterwards.
    void drop_chunk(size_t chunk) { chunks_[chunk].reset(); }

private:
    static constexpr size_t chunk_bytes = chunk_items * sizeof(T);
    struct Unmap {
        void operator()(T* chunk) const { ::munmap(chunk, chunk_bytes); }
    };
    using Chunk = std::unique_ptr<T, Unmap>;

    static Chunk map_chunk() {
        void* memory = ::mmap(nullptr, chunk_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED) {
            throw std::bad_alloc();
        }
        return Chunk(static_cast<T*>(memory));
    }

    std::vector<Chunk> chunks_;
    size_t size_ = 0;
};

}  // namespace tidemark
