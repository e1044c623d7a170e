// Looking at what nodes saved for their backward without unpacking it: unpacking runs hooks (recomputation, copies from
// the host), raises when it was released, and makes new tensors.
#pragma once

#include <torch/csrc/autograd/saved_variable.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tidemark::plugin {

using torch::autograd::SavedVariable;

/// What lies in a SavedVariable: the tensor (undefined when released, None, or packed), and whether hooks packed it.
const at::Tensor& data_of(const SavedVariable& saved);
bool is_packed(const SavedVariable& saved);
uint32_t version_of(const SavedVariable& saved);

/// A field of a node class that holds saved tensors.
struct SavedField {
    std::string name;  ///< as Python says it: "self", "result", "tensors"
    size_t offset = 0;
    bool is_list = false;  ///< std::vector<SavedVariable>
};

/// Of the node classes that torch generates, by name ("MulBackward0").
std::vector<SavedField> generated_fields(const std::string& node_class);

/// A list lies somewhere inside a Python function's ctx, found out once (learn_python_function); nullptr: not known.
const std::vector<SavedVariable>* list_of_python_function(const void* ctx);

/// What the package found out with a torch.autograd.Function of its own: its node, its ctx object of `ctx_bytes`, and
/// the addresses of the first and last of its saved tensors, which are `count`. 1: ctx objects can be looked into.
int learn_python_function(const void* node, const void* ctx, size_t ctx_bytes, const void* first, size_t count);
/// The ctx object of a node that is a Python function; nullptr before that was learnt.
const void* ctx_of(const void* node);

}  // namespace tidemark::plugin
