// How CPython lays out what a search needs of an object. 64-bit builds with the interpreter lock, Python 3.10 to 3.14.
//
// Source: Include/object.h and Include/cpython/object.h. All of it holds with the interpreter's lock only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace tidemark::heap {

using Address = uint64_t;
using Visit = int (*)(void* object, void* context);
using Traverse = int (*)(void* object, Visit visit, void* context);
using IsCollected = int (*)(void* object);

constexpr size_t object_references = 0, object_type = 8;
constexpr size_t type_flags = 168, type_traverse = 184, type_is_collected = 328;
constexpr size_t list_size = 16, list_items = 24;
constexpr uint64_t flag_collected = uint64_t{1} << 14;  ///< Py_TPFLAGS_HAVE_GC

constexpr uint64_t flag_tuple = uint64_t{1} << 26;  ///< Py_TPFLAGS_TUPLE_SUBCLASS

template <class T = uint64_t>
T read(Address address, size_t offset) {
    return *reinterpret_cast<const T*>(address + offset);
}

/// As CPython's _PyObject_IS_GC: whether the collector may ask the object for what it refers to.
inline bool is_collected(Address object) {
    const auto type = read(object, object_type);
    if ((read(type, type_flags) & flag_collected) == 0) {
        return false;
    }
    const auto asks = read<IsCollected>(type, type_is_collected);
    return asks == nullptr || asks(reinterpret_cast<void*>(object)) != 0;
}

inline bool is_tuple(Address object) { return (read(read(object, object_type), type_flags) & flag_tuple) != 0; }

/// Calls visit(child, context) for what the object refers to, as the collector does; stops when that returns not 0.
/// Only of objects that are is_collected().
inline void for_each_child(Address object, Visit visit, void* context) {
    if (const auto traverse = read<Traverse>(read(object, object_type), type_traverse)) {
        traverse(reinterpret_cast<void*>(object), visit, context);
    }
}

/// Objects in all versions count references in at least this half; those with more never die.
inline uint32_t references_to(Address object) { return read<uint32_t>(object, object_references); }

inline std::span<const Address> items_of_list(Address list) {
    return {read<const Address*>(list, list_items), read(list, list_size)};
}

}  // namespace tidemark::heap
