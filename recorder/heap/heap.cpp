// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/heap/heap.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <new>
#include <span>
#include <unordered_map>
#include <vector>

#include "recorder/core/core.h"
#include "recorder/core/ring.h"
#include "recorder/heap/collector_walk.h"
#include "recorder/heap/heap_scan.h"
#include "recorder/heap/layout_check.h"
#include "recorder/heap/runnable_time.h"

using namespace tidemark::heap;

namespace {

constexpr int newest_with_lists = 13;  ///< Python 3.14 collects in another way

// A process has one interpreter: its layout and its functions.
const FrameLayout* layout = nullptr;
CollectorWalk::Python python{};
IsSubtype is_subtype = nullptr;
int (*append)(void* list, void* object) = nullptr;
void* (*call)(void* function, void* arguments) = nullptr;  // PyObject_CallObject
Address get_objects = 0;
void* (*new_weak_reference)(void* object, void* callback) = nullptr;
void (*clear_error)() = nullptr;
bool can_walk = false;

template <class Function>
bool find(Function& function, const char* name) {
    function = reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
    return function != nullptr;
}

/// Runs a part of a search and retains the objects of the new paths. Returns the number of targets without a path; -1:
/// out of memory.
template <class Part>
int64_t run(HeapScan& scan, Part part) {
    try {
        part();
    } catch (const std::bad_alloc&) {
        scan.count_new_paths(python.count_up);
        return -1;
    }
    scan.count_new_paths(python.count_up);
    return static_cast<int64_t>(scan.missing());
}

/// Finds the first of some types that is a type or a base of it. Looks at each type once, since a heap has far fewer
/// types than objects.
class FirstBase {
public:
    explicit FirstBase(std::span<const Address> bases) : bases_(bases) {}

    /// Returns the index of the base; the number of bases: none.
    size_t of(Address type) {
        if (type != last_type_) {
            const auto [entry, is_new] = known_.try_emplace(type);
            if (is_new) {
                entry->second = find(type);
            }
            last_type_ = type;
            last_ = entry->second;
        }
        return last_;
    }

private:
    size_t find(Address type) const {
        const auto is_base = [&](Address base) {
            return is_subtype(reinterpret_cast<void*>(type), reinterpret_cast<void*>(base)) != 0;
        };
        return static_cast<size_t>(std::find_if(bases_.begin(), bases_.end(), is_base) - bases_.begin());
    }

    std::span<const Address> bases_;
    std::unordered_map<Address, size_t> known_;
    Address last_type_ = 0;
    size_t last_ = 0;
};

/// `visit` must not run code of Python.
template <class Visit>
void for_each_object(Visit visit) {
    if (can_walk) {
        CollectorWalk(python).next_part(Deadline(), visit);
    } else if (void* list = call(reinterpret_cast<void*>(get_objects), nullptr)) {
        for (const Address object : items_of_list(reinterpret_cast<Address>(list))) {
            visit(object);
        }
        python.count_down(list);
    }
}

/// Returns all objects of the garbage collector, older ones first where it can be walked. Nothing retains them, so no
/// code of Python may run.
///
/// The caller must not own them: Python resizes a tuple in place while the tuple has one owner.
std::vector<Address> all_objects() {
    std::vector<Address> objects;
    for_each_object([&](Address object) { objects.push_back(object); });
    return objects;
}

struct Found {
    Address object;
    size_t list;
};

/// Appends a weak reference to each object, which the caller owns, to its list. Leaves out objects without support for
/// weak references.
void append_weakly(std::span<const Found> found, const uint64_t* lists) {
    for (const Found& each : found) {
        if (void* reference = new_weak_reference(reinterpret_cast<void*>(each.object), nullptr)) {
            append(reinterpret_cast<void*>(lists[each.list]), reference);
            python.count_down(reference);
        } else {
            clear_error();
        }
    }
}

}  // namespace

struct tidemark_heap_walk : CollectorWalk {
    explicit tidemark_heap_walk(const int64_t& collections)
        : CollectorWalk(python), collections(collections), collections_before(collections) {}

    const int64_t& collections;
    const int64_t collections_before;
};

struct tidemark_heap_scan : HeapScan {
    using HeapScan::HeapScan;
};

extern "C" {

TIDEMARK_EXPORT int tidemark_heap_prepare(int major, int minor, const tidemark_heap_known* known, char* error,
                                          size_t error_size) {
    const FrameLayout* candidate = major == 3 ? frame_layout_of(minor) : nullptr;
    if (candidate == nullptr) {
        std::snprintf(error, error_size, "the heap of Python %d.%d cannot be scanned (3.10 to 3.14 can).", major,
                      minor);
        return 0;
    }
    if (!find(python.count_up, "Py_IncRef") || !find(python.count_down, "Py_DecRef") ||
        !find(is_subtype, "PyType_IsSubtype") || !find(append, "PyList_Append") || !find(call, "PyObject_CallObject") ||
        !find(new_weak_reference, "PyWeakref_NewRef") || !find(clear_error, "PyErr_Clear") ||
        !find(python.new_list, "PyList_New") || !objects_are_as_known(*known) ||
        !frames_are_as_known(*candidate, *known)) {
        std::snprintf(error, error_size, "this build of Python %d.%d has another object layout.", major, minor);
        return 0;
    }
    layout = candidate;
    get_objects = known->get_objects;
    python.function_type = known->function_type;
    can_walk = minor <= newest_with_lists && CollectorWalk::can_walk(python);
    return 1;
}

TIDEMARK_EXPORT void tidemark_heap_instances(const uint64_t* types, const uint64_t* lists, int32_t count) {
    const std::span bases(types, static_cast<size_t>(count));
    FirstBase first_base(bases);
    for_each_object([&](Address object) {
        if (const size_t list = first_base.of(read(object, object_type)); list < bases.size()) {
            append(reinterpret_cast<void*>(lists[list]), reinterpret_cast<void*>(object));
        }
    });
}

TIDEMARK_EXPORT tidemark_heap_walk* tidemark_heap_walk_begin(const int64_t* collections) {
    return can_walk ? new (std::nothrow) tidemark_heap_walk(*collections) : nullptr;
}

TIDEMARK_EXPORT int tidemark_heap_walk_part(tidemark_heap_walk* walk, const uint64_t* types, const uint64_t* lists,
                                            int32_t count, int64_t longest_ns) {
    // Here, where no other thread can begin a collection any more.
    if (walk->collections != walk->collections_before) {
        return TIDEMARK_HEAP_WALK_CHANGED;
    }
    const std::span bases(types, static_cast<size_t>(count));
    FirstBase first_base(bases);  // of this part: a type may be destroyed between two parts
    std::vector<Found> found;
    const CollectorWalk::End end = walk->next_part(Deadline(longest_ns), [&](Address object) {
        if (const size_t list = first_base.of(read(object, object_type)); list < bases.size()) {
            python.count_up(reinterpret_cast<void*>(object));  // what follows may run a collection
            found.push_back({object, list});
        }
    });
    append_weakly(found, lists);
    for (const Found& each : found) {
        python.count_down(reinterpret_cast<void*>(each.object));
    }
    return static_cast<int>(end);
}

TIDEMARK_EXPORT void tidemark_heap_walk_end(tidemark_heap_walk* walk) { delete walk; }

TIDEMARK_EXPORT void tidemark_heap_variables(uint64_t frame, uint64_t* objects, int32_t count) {
    const Address variables = variables_of(*layout, frame);
    for (int32_t i = 0; i < count; ++i) {
        objects[i] = value_at(*layout, variables, static_cast<size_t>(i));
    }
}

TIDEMARK_EXPORT tidemark_heap_scan* tidemark_heap_begin(const tidemark_heap_plan* plan) {
    try {
        return new tidemark_heap_scan(*layout, is_subtype, *plan);
    } catch (const std::bad_alloc&) {
        return nullptr;
    }
}

TIDEMARK_EXPORT int64_t tidemark_heap_search_from(tidemark_heap_scan* scan, const tidemark_heap_root* roots,
                                                  int64_t count, int64_t longest_ns) {
    return run(*scan, [&] { scan->search_from({roots, static_cast<size_t>(count)}, longest_ns); });
}

TIDEMARK_EXPORT int64_t tidemark_heap_drop_unreferenced(tidemark_heap_scan* scan) {
    return run(*scan, [&] { scan->drop_unreferenced(all_objects()); });
}

TIDEMARK_EXPORT int64_t tidemark_heap_search_unreachable(tidemark_heap_scan* scan) {
    return run(*scan, [&] { scan->search_unreachable(all_objects()); });
}

TIDEMARK_EXPORT int64_t tidemark_heap_targets(const tidemark_heap_scan* scan) {
    return static_cast<int64_t>(scan->targets());
}

TIDEMARK_EXPORT tidemark_heap_path tidemark_heap_path_to(const tidemark_heap_scan* scan, int64_t target,
                                                         uint64_t* objects, int32_t capacity) {
    const auto path = scan->objects_of(static_cast<size_t>(target));
    std::copy_n(path.begin(), std::min(path.size(), static_cast<size_t>(capacity)), objects);
    return scan->path(static_cast<size_t>(target));
}

TIDEMARK_EXPORT int64_t tidemark_heap_objects(const tidemark_heap_scan* scan) {
    return static_cast<int64_t>(scan->objects());
}

TIDEMARK_EXPORT void tidemark_heap_end(tidemark_heap_scan* scan) {
    scan->count_all_paths(python.count_down);
    delete scan;
}

TIDEMARK_EXPORT uint64_t tidemark_heap_ticks(void) { return tidemark::recorder::ticks(); }

TIDEMARK_EXPORT uint64_t tidemark_heap_runnable_ns(void) { return runnable_ns(); }

}  // extern "C"
