// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Finds the memory of tensors that Python classes wrap (DTensor, AsyncCollectiveTensor): the wrapper has no memory, and
// its Python object has the tensor that does as an attribute. Needs no headers of Python.
#pragma once

#include <cstddef>

#include "recorder/torch/tensor_place.h"

namespace tidemark::plugin {

/// Returns the place of the tensor's memory; of a wrapper, that of the tensor in it. Takes the interpreter lock if the
/// tensor has a Python class with its own operators; the caller must hold no lock that a thread with it may want.
TensorPlace memory_of(const c10::TensorImpl& tensor);

/// A Python tensor.
struct TensorObject {
    const void* object = nullptr;
    size_t bytes = 0;
    const void* impl = nullptr;    ///< its TensorImpl
    void* tensor_class = nullptr;  ///< the Python class that all tensors inherit from, which is never destroyed
};
/// Finds where Python tensors store the address of their TensorImpl. Before, no wrapper is looked into. Returns 1 on
/// success.
int learn_tensor_object(const TensorObject& example);

}  // namespace tidemark::plugin
