#include "recorder/heap/heap.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <new>

#include "recorder/core/core.h"
#include "recorder/core/ring.h"
#include "recorder/heap/collected.h"
#include "recorder/heap/memory_proof.h"
#include "recorder/heap/scan.h"

using namespace tidemark::heap;

namespace {

// One interpreter per process: its layout and its own functions.
const FrameLayout* layout = nullptr;
CountReference count_up = nullptr, count_down = nullptr;
int (*is_subtype)(void* type, void* base) = nullptr;
int (*append)(void* list, void* object) = nullptr;
Collected::Call call = nullptr;
Address get_objects = 0;

template <class Function>
bool find(Function& function, const char* name) {
    function = reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
    return function != nullptr;
}

/// Runs a part of a search; what it found lives from then on.
template <class Part>
int64_t run(Search& search, Part part) {
    try {
        part();
    } catch (const std::bad_alloc&) {
        search.for_new_chains(count_up);
        return -1;
    }
    search.for_new_chains(count_up);
    return static_cast<int64_t>(search.missing());
}

/// Index of the first that `type` is or derives from; as many as there are: none.
size_t base_among(std::span<const Address> types, Address type) {
    const auto is_base = [&](Address base) {
        return is_subtype(reinterpret_cast<void*>(type), reinterpret_cast<void*>(base)) != 0;
    };
    return static_cast<size_t>(std::find_if(types.begin(), types.end(), is_base) - types.begin());
}

}  // namespace

struct tidemark_heap_scan : Search {
    using Search::Search;
};

extern "C" {

TIDEMARK_EXPORT int tidemark_heap_prepare(int major, int minor, const tidemark_heap_known* known, char* error,
                                          size_t error_size) {
    const FrameLayout* candidate = major == 3 ? frame_layout_of(minor) : nullptr;
    if (candidate == nullptr) {
        std::snprintf(error, error_size, "the heap of Python %d.%d is not known (3.10 to 3.14 are).", major, minor);
        return 0;
    }
    if (!find(count_up, "Py_IncRef") || !find(count_down, "Py_DecRef") || !find(is_subtype, "PyType_IsSubtype") ||
        !find(append, "PyList_Append") || !find(call, "PyObject_CallObject") || !objects_are_as_known(*known) ||
        !frames_are_as_known(*candidate, *known)) {
        std::snprintf(error, error_size, "this build of Python %d.%d keeps its objects differently.", major, minor);
        return 0;
    }
    layout = candidate;
    get_objects = known->get_objects;
    return 1;
}

TIDEMARK_EXPORT void tidemark_heap_instances(const uint64_t* types, const uint64_t* lists, int32_t count) {
    const std::span wanted(types, static_cast<size_t>(count));
    const Collected collected(call, count_down, get_objects);
    Address last_type = 0;
    size_t last_is = wanted.size();
    for (const Address object : collected.objects()) {
        if (const auto type = read(object, object_type); type != last_type) {
            last_type = type;
            last_is = base_among(wanted, type);
        }
        if (last_is < wanted.size()) {
            append(reinterpret_cast<void*>(lists[last_is]), reinterpret_cast<void*>(object));
        }
    }
}

TIDEMARK_EXPORT void tidemark_heap_variables(uint64_t frame, uint64_t* objects, int32_t count) {
    const Address variables = variables_of(*layout, frame);
    for (int32_t i = 0; i < count; ++i) {
        objects[i] = value_at(*layout, variables, static_cast<size_t>(i));
    }
}

TIDEMARK_EXPORT tidemark_heap_scan* tidemark_heap_begin(const uint64_t* targets, int64_t target_count,
                                                          const uint64_t* barriers, int64_t barrier_count) {
    try {
        return new tidemark_heap_scan(*layout, std::span(targets, static_cast<size_t>(target_count)),
                                        std::span(barriers, static_cast<size_t>(barrier_count)));
    } catch (const std::bad_alloc&) {
        return nullptr;
    }
}

TIDEMARK_EXPORT int64_t tidemark_heap_from(tidemark_heap_scan* search, const tidemark_heap_root* roots,
                                           int64_t count) {
    return run(*search, [&] { search->from({roots, static_cast<size_t>(count)}); });
}

TIDEMARK_EXPORT int64_t tidemark_heap_give_up(tidemark_heap_scan* search) {
    const Collected collected(call, count_down, get_objects);
    return run(*search, [&] { search->give_up_unreferred(collected.objects()); });
}

TIDEMARK_EXPORT int64_t tidemark_heap_leftovers(tidemark_heap_scan* search) {
    const Collected collected(call, count_down, get_objects);
    return run(*search, [&] { search->leftovers(collected.objects()); });
}

TIDEMARK_EXPORT tidemark_heap_chain tidemark_heap_chain_of(const tidemark_heap_scan* search, int64_t target,
                                                           uint64_t* objects, int32_t capacity) {
    const auto chain = search->objects_of(static_cast<size_t>(target));
    std::copy_n(chain.begin(), std::min(chain.size(), static_cast<size_t>(capacity)), objects);
    return search->chain(static_cast<size_t>(target));
}

TIDEMARK_EXPORT int64_t tidemark_heap_objects(const tidemark_heap_scan* search) {
    return static_cast<int64_t>(search->objects());
}

TIDEMARK_EXPORT void tidemark_heap_end(tidemark_heap_scan* search) {
    search->for_all_chains(count_down);
    delete search;
}

TIDEMARK_EXPORT uint64_t tidemark_heap_ticks(void) { return tidemark::recorder::ticks(); }

}  // extern "C"
