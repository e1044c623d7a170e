// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/torch/wrapped_tensor.h"

#include <dlfcn.h>

#include <array>
#include <atomic>
#include <cstring>

#include "recorder/torch/torch_versions.h"

namespace tidemark::plugin {

namespace {

/// Functions of Python's stable C interface, from the interpreter of this process.
struct PythonInterface {
    int (*lock)() = find<int (*)()>("PyGILState_Ensure");
    void (*unlock)(int) = find<void (*)(int)>("PyGILState_Release");
    PyObject* (*attribute)(PyObject*, PyObject*) = find<PyObject* (*)(PyObject*, PyObject*)>("PyObject_GenericGetAttr");
    PyObject* (*text)(const char*) = find<PyObject* (*)(const char*)>("PyUnicode_InternFromString");
    PyObject* (*error)() = find<PyObject* (*)()>("PyErr_Occurred");
    void (*clear_error)() = find<void (*)()>("PyErr_Clear");
    void (*release)(PyObject*) = find<void (*)(PyObject*)>("Py_DecRef");
    PyObject* (*type)(PyObject*) = find<PyObject* (*)(PyObject*)>("PyObject_Type");
    int (*is_subtype)(PyObject*, PyObject*) = find<int (*)(PyObject*, PyObject*)>("PyType_IsSubtype");

    bool is_complete() const {
        return lock != nullptr && unlock != nullptr && attribute != nullptr && text != nullptr && error != nullptr &&
               clear_error != nullptr && release != nullptr && type != nullptr && is_subtype != nullptr;
    }

    static const PythonInterface& get() {
        static const PythonInterface python;
        return python;
    }

private:
    template <class Function>
    static Function find(const char* name) {
        return reinterpret_cast<Function>(::dlsym(RTLD_DEFAULT, name));
    }
};

std::atomic<size_t> impl_in_object{0};             ///< bytes from the begin of a Python tensor; 0: not known
std::atomic<PyObject*> class_of_tensors{nullptr};  ///< torch._C.TensorBase

bool is_wrapper(const c10::TensorImpl& tensor, const TensorPlace& place) {
    return place.address == 0 && tensor.key_set().has(c10::DispatchKey::Python);
}

const c10::TensorImpl* impl_of(const PyObject* object) {
    const c10::TensorImpl* impl = nullptr;
    std::memcpy(&impl, reinterpret_cast<const char*>(object) + impl_in_object.load(std::memory_order_relaxed),
                sizeof impl);
    return impl;
}

/// Requires the interpreter lock.
bool is_tensor(PyObject* object) {
    const PythonInterface& python = PythonInterface::get();
    PyObject* type = python.type(object);
    const bool is = python.is_subtype(type, class_of_tensors.load(std::memory_order_relaxed)) != 0;
    python.release(type);
    return is;
}

/// Returns the tensor that the wrapper has as an attribute; nullptr: none. Calls no function of the wrapper's class for
/// attributes that are missing. Requires the interpreter lock. The caller releases the result.
PyObject* wrapped_in(PyObject* wrapper) {
    const PythonInterface& python = PythonInterface::get();
    // DTensor's and AsyncCollectiveTensor's.
    static const std::array<PyObject*, 2> names{python.text("_local_tensor"), python.text("elem")};
    for (PyObject* name : names) {
        PyObject* found = name == nullptr ? nullptr : python.attribute(wrapper, name);
        if (found == nullptr) {
            python.clear_error();
        } else if (is_tensor(found)) {
            return found;
        } else {
            python.release(found);
        }
    }
    return nullptr;
}

/// Requires the interpreter lock. `depth`: a DTensor whose local tensor is still being gathered is a wrapper in a
/// wrapper.
TensorPlace place_in_wrapper(const c10::TensorImpl& wrapper, int depth = 3) {
    PyObject* object = python_object_of(wrapper, 0);
    PyObject* inner = object == nullptr || depth == 0 ? nullptr : wrapped_in(object);
    if (inner == nullptr) {
        return {};
    }
    const c10::TensorImpl& tensor = *impl_of(inner);
    TensorPlace place = place_of(tensor);
    if (is_wrapper(tensor, place)) {
        place = place_in_wrapper(tensor, depth - 1);
    }
    PythonInterface::get().release(inner);
    return place;
}

}  // namespace

TensorPlace memory_of(const c10::TensorImpl& tensor) {
    const TensorPlace place = place_of(tensor);
    if (!is_wrapper(tensor, place) || impl_in_object.load(std::memory_order_relaxed) == 0) {
        return place;
    }
    const PythonInterface& python = PythonInterface::get();
    const int lock = python.lock();
    const TensorPlace inner = python.error() == nullptr ? place_in_wrapper(tensor) : TensorPlace{};
    python.unlock(lock);
    return inner.address == 0 ? place : inner;
}

int learn_tensor_object(const TensorObject& example) {
    const auto* object = static_cast<const char*>(example.object);
    const bool can_look = PythonInterface::get().is_complete();
    class_of_tensors.store(static_cast<PyObject*>(example.tensor_class), std::memory_order_relaxed);
    for (size_t at = sizeof example.impl; can_look && at + sizeof example.impl <= example.bytes; at += sizeof(void*)) {
        if (std::memcmp(object + at, &example.impl, sizeof example.impl) == 0) {
            impl_in_object.store(at, std::memory_order_relaxed);
            return 1;
        }
    }
    return 0;
}

}  // namespace tidemark::plugin
