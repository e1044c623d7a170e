// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Classes of autograd nodes: the name in Python, and the fields with saved tensors.
#pragma once

#include <torch/csrc/autograd/function.h>

#include <cstdint>
#include <string>
#include <vector>

#include "recorder/torch/saved_variables.h"

namespace tidemark::plugin {

using torch::autograd::Node;

struct NodeType {
    enum class Kind : uint8_t {
        plain,
        accumulate_grad,
        copy_slices,   ///< wraps another node and its saved tensors
        python,        ///< the user's torch.autograd.Function, named by its class
        cpp_function,  ///< torch::autograd::Function of a C++ extension
    };
    uint32_t number = 0;  ///< consecutive, from 0, in order of appearance
    Kind kind = Kind::plain;
    std::string name;
    std::string engine_name;  ///< with namespaces: "torch::autograd::AccumulateGrad"
    std::vector<SavedField> saved;
};

/// Returns the type of a live node: one object per class, never destroyed. Any thread may call, without the interpreter
/// lock.
const NodeType& type_of(const Node& node);

/// A saved tensor of a node: the field of the node's class and, if the field is a list, the position in it.
struct SavedSlot {
    const SavedVariable* saved;
    uint32_t field;
    int32_t index;  ///< -1: the field is not a list
};
/// Appends all saved tensors of a live node to `out`, also released and packed ones. The pointers are valid while
/// the node is alive.
void append_saved(const Node& node, const NodeType& type, std::vector<SavedSlot>& out);

}  // namespace tidemark::plugin
