// All objects that the collector knows, for as long as one call of ours lasts.
//
// Never longer: Python takes a tuple that it is filling for its own as long as nobody else refers to it, and the list
// refers to everything.
#pragma once

#include "recorder/heap/object_layout.h"

namespace tidemark::heap {

class Collected {
public:
    using Call = void* (*)(void* function, void* arguments);  ///< PyObject_CallObject
    using Release = void (*)(void* object);                   ///< Py_DecRef

    /// `function`: gc.get_objects.
    Collected(Call call, Release release, Address function)
        : release_(release), list_(call(reinterpret_cast<void*>(function), nullptr)) {}
    ~Collected() {
        if (list_ != nullptr) {
            release_(list_);
        }
    }
    Collected(const Collected&) = delete;
    Collected& operator=(const Collected&) = delete;

    std::span<const Address> objects() const {
        return list_ == nullptr ? std::span<const Address>() : items_of_list(reinterpret_cast<Address>(list_));
    }

private:
    Release release_;
    void* list_;
};

}  // namespace tidemark::heap
