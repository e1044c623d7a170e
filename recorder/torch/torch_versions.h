// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Differences between the supported torch versions (2.4 to 2.15).
#pragma once

#include <c10/core/TensorImpl.h>
#include <c10/cuda/CUDACachingAllocator.h>

#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

namespace tidemark::plugin {

namespace allocator = c10::cuda::CUDACachingAllocator;
using TraceEntry = allocator::TraceEntry;
using SnapshotInfo = allocator::SnapshotInfo;

/// Returns when the event happened, on the clock of all records (core/ring.h), or 0 where PyTorch uses another clock.
inline uint64_t ticks_of(const TraceEntry& entry) {
#if defined(C10_RDTSC)
    return static_cast<uint64_t>(entry.time_.approx_t_);
#else
    static_cast<void>(entry);
    return 0;
#endif
}

/// Returns the pool of an event, or {0, 0} before torch 2.8.
template <class Entry>
auto pool_of(const Entry& entry, int) -> decltype(std::pair<int64_t, int64_t>(entry.mempool_)) {
    return {static_cast<int64_t>(entry.mempool_.first), static_cast<int64_t>(entry.mempool_.second)};
}
template <class Entry>
std::pair<int64_t, int64_t> pool_of(const Entry&, long) {
    return {0, 0};
}

/// Returns "" before torch 2.8 and for "N/A".
template <class Entry>
auto compile_context_of(const Entry& entry, int) -> decltype(static_cast<const std::string&>(entry.compile_context_)) {
    static const std::string none;
    return entry.compile_context_ == "N/A" ? none : entry.compile_context_;
}
template <class Entry>
const std::string& compile_context_of(const Entry&, long) {
    static const std::string none;
    return none;
}

/// Returns "" before torch 2.10.
template <class Entry>
auto user_metadata_of(const Entry& entry, int) -> decltype(static_cast<const std::string&>(entry.user_metadata_)) {
    return entry.user_metadata_;
}
template <class Entry>
const std::string& user_metadata_of(const Entry&, long) {
    static const std::string none;
    return none;
}

/// Returns the tensor's Python object, borrowed; nullptr: it has none. Newer versions have another function.
template <class Tensor>
auto python_object_of(const Tensor& tensor, int) -> decltype(tensor.pyobj_slot()->load_pyobj()) {
    return tensor.pyobj_slot()->load_pyobj();
}
template <class Tensor>
auto python_object_of(const Tensor& tensor, long) -> decltype(tensor.pyobj_slot()->_unchecked_untagged_pyobj()) {
    return tensor.pyobj_slot()->_unchecked_untagged_pyobj();
}

/// Takes a snapshot, since torch 2.11 without a copy of the program's event history.
template <class Allocator>
auto take_snapshot(Allocator& from, int) -> decltype(from.snapshot({0, 0}, false)) {
    return from.snapshot({0, 0}, false);
}
template <class Allocator>
SnapshotInfo take_snapshot(Allocator& from, long) {
    return from.snapshot();
}

}  // namespace tidemark::plugin
