// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The parts of CPython's object layout that a heap scan reads: Python 3.10 to 3.14, 64-bit builds with the interpreter
// lock.
//
// Source: Include/object.h and Include/cpython/object.h. All functions require the interpreter lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace tidemark::heap {

using Address = uint64_t;
using Visit = int (*)(void* object, void* context);
using Traverse = int (*)(void* object, Visit visit, void* context);
using IsTracked = int (*)(void* object);
using CountReference = void (*)(void* object);  ///< Py_IncRef or Py_DecRef

constexpr size_t object_references = 0, object_type = 8;
constexpr size_t type_flags = 168, type_traverse = 184, type_is_tracked = 328;
constexpr size_t container_size = 16, list_items = 24;
constexpr uint64_t flag_tracked = uint64_t{1} << 14;  ///< Py_TPFLAGS_HAVE_GC

constexpr uint64_t flag_tuple = uint64_t{1} << 26;                                        ///< Py_TPFLAGS_TUPLE_SUBCLASS
constexpr uint64_t flags_container = uint64_t{1} << 25 | flag_tuple | uint64_t{1} << 29;  ///< of lists, tuples, dicts
constexpr uint64_t flag_heap_type = uint64_t{1} << 9;  ///< Py_TPFLAGS_HEAPTYPE: a class of Python code, for example

template <class T = uint64_t>
T read(Address address, size_t offset) {
    return *reinterpret_cast<const T*>(address + offset);
}

/// Returns whether the garbage collector may traverse the object (CPython's _PyObject_IS_GC).
inline bool is_tracked(Address object) {
    const auto type = read(object, object_type);
    if ((read(type, type_flags) & flag_tracked) == 0) {
        return false;
    }
    const auto is_tracked_instance = read<IsTracked>(type, type_is_tracked);
    return is_tracked_instance == nullptr || is_tracked_instance(reinterpret_cast<void*>(object)) != 0;
}

/// Returns whether a type is list, tuple, dict or another of C like them: their instances have a size, at the same
/// offset in all of them, and no attributes.
inline bool is_plain_container(Address type) {
    const auto flags = read(type, type_flags);
    return (flags & flags_container) != 0 && (flags & flag_heap_type) == 0;
}

inline bool is_tuple(Address object) { return (read(read(object, object_type), type_flags) & flag_tuple) != 0; }

/// Calls visit(child, context) for each reference of the object; stops when the result is not 0. Requires
/// is_tracked(object).
inline void for_each_child(Address object, Visit visit, void* context) {
    if (const auto traverse = read<Traverse>(read(object, object_type), type_traverse)) {
        traverse(reinterpret_cast<void*>(object), visit, context);
    }
}

/// Returns the lower half of the reference count. Objects with higher counts are immortal.
inline uint32_t references_to(Address object) { return read<uint32_t>(object, object_references); }

inline std::span<const Address> items_of_list(Address list) {
    return {read<const Address*>(list, list_items), read(list, container_size)};
}

}  // namespace tidemark::heap
