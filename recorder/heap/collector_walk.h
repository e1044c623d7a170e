// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Walks over all objects that the garbage collector tracks in parts, between which the program runs.
//
// Reads the collector's own lists (Include/internal/pycore_gc.h), which are the same in Python 3.10 to 3.13. Requires
// the interpreter lock during each call.
#pragma once

#include <functional>

#include "recorder/heap/deadline.h"
#include "recorder/heap/object_layout.h"

namespace tidemark::heap {

class CollectorWalk {
public:
    enum class End {
        done,     ///< all objects were visited
        late,     ///< the next part continues
        changed,  ///< the place of the walk was lost: the program froze its objects
    };
    struct Python {
        void* (*new_list)(ptrdiff_t size);  ///< PyList_New
        CountReference count_up, count_down;
        Address function_type;  ///< PyFunction_Type
    };

    /// Returns whether the lists have the expected layout in this interpreter. Looks at a few objects of each.
    static bool can_walk(const Python& python);

    /// Requires can_walk().
    explicit CollectorWalk(const Python& python);
    ~CollectorWalk();
    CollectorWalk(const CollectorWalk&) = delete;
    CollectorWalk& operator=(const CollectorWalk&) = delete;

    /// Calls visit(object) for objects until the deadline. `visit` must not run code of Python.
    ///
    /// Objects that are created meanwhile are visited. The caller must not continue a walk after a collection of the
    /// oldest generation has begun, which moves objects, also to places that are not those of the lists.
    End next_part(const Deadline& deadline, const std::function<void(Address)>& visit);

private:
    End walk_list(Address head, const Deadline& deadline, const std::function<void(Address)>& visit);
    bool may_wait(Address object, size_t objects_after_time) const;

    const Python& python_;
    Address youngest_;  ///< head of the list of the youngest generation
    Address node_ = 0;  ///< of the last object visited, which the walk retains between two parts; 0: none
};

}  // namespace tidemark::heap
