// What is known of each class of autograd nodes: its name as Python says it, and where it keeps what it saved.
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
        copy_slices,   ///< wraps another node, whose saved tensors it keeps
        python,        ///< torch.autograd.Function of the user: its class names it
        cpp_function,  ///< torch::autograd::Function of a C++ extension
    };
    uint32_t number = 0;  ///< 0, 1, 2, ... in order of appearance
    Kind kind = Kind::plain;
    std::string name;
    std::vector<SavedField> saved;
};

/// Of a node that is alive. The same object for all nodes of a class, for ever. Any thread; takes no interpreter lock.
const NodeType& type_of(const Node& node);

/// A node's saved tensor: the field of its class and, where the field is a list, the position in it.
struct SavedSlot {
    const SavedVariable* saved;
    uint32_t field;
    int32_t index;  ///< -1: no list
};
/// All that a node holds, also what is released or packed by now. Appends to `out`. The node is alive while it is used.
void append_saved(const Node& node, const NodeType& type, std::vector<SavedSlot>& out);

}  // namespace tidemark::plugin
