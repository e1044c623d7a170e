// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// All objects that the garbage collector tracks, for the duration of one call.
//
// The list must not exist longer: Python resizes a tuple in place while the tuple has one owner, and the list is
// another owner of every object.
#pragma once

#include "recorder/heap/object_layout.h"

namespace tidemark::heap {

class TrackedObjects {
public:
    using Call = void* (*)(void* function, void* arguments);  ///< PyObject_CallObject
    using Release = void (*)(void* object);                   ///< Py_DecRef

    /// `function`: gc.get_objects.
    TrackedObjects(Call call, Release release, Address function)
        : release_(release), list_(call(reinterpret_cast<void*>(function), nullptr)) {}
    ~TrackedObjects() {
        if (list_ != nullptr) {
            release_(list_);
        }
    }
    TrackedObjects(const TrackedObjects&) = delete;
    TrackedObjects& operator=(const TrackedObjects&) = delete;

    std::span<const Address> objects() const {
        return list_ == nullptr ? std::span<const Address>() : items_of_list(reinterpret_cast<Address>(list_));
    }

private:
    Release release_;
    void* list_;
};

}  // namespace tidemark::heap
