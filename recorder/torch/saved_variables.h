// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Reads saved tensors without unpacking them, because unpacking runs hooks (recomputation, copies from the host),
// throws if the tensors were released, and creates tensors.
#pragma once

#include <torch/csrc/autograd/saved_variable.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tidemark::plugin {

using torch::autograd::SavedVariable;

/// Return the fields of a SavedVariable: the tensor (undefined if released, None or packed), whether hooks packed it,
/// and the tensor's version.
const at::Tensor& data_of(const SavedVariable& saved);
bool is_packed(const SavedVariable& saved);
uint32_t version_of(const SavedVariable& saved);

/// A field of a node class with one or several saved tensors.
struct SavedField {
    std::string name;  ///< its name in Python: "self", "result", "tensors"
    size_t offset = 0;
    bool is_list = false;  ///< std::vector<SavedVariable>
};

/// Returns the saved fields of a node class that torch generates ("MulBackward0"), or none for an unknown class.
std::vector<SavedField> generated_fields(const std::string& node_class);

/// Returns the saved tensors inside the ctx of a Python function; nullptr before learn_python_function() succeeded.
const std::vector<SavedVariable>* list_of_python_function(const void* ctx);

/// Finds the layout from one torch.autograd.Function: its node, its ctx object of `ctx_bytes`, and the address of the
/// first of its `count` saved tensors. Returns 1 on success.
int learn_python_function(const void* node, const void* ctx, size_t ctx_bytes, const void* first, size_t count);
/// Returns the ctx object of a node that is a Python function; nullptr: destroyed, or the layout is not known.
const void* ctx_of(const void* node);

}  // namespace tidemark::plugin
