// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The role of a stack frame: who the code belongs to. Stacks of PyTorch (`stacks="all"`) mix Python frames with the C++
// frames of the unwinder, the allocator, the dispatcher and the interpreter.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tidemark {

/// From the least to the most telling. The site of an allocation is the innermost frame of its most telling role.
enum class FrameRole : uint8_t {
    plumbing,  ///< native code below every program: unwinder, allocator, dispatcher, interpreter, thread start
    native,    ///< other native code
    op,        ///< native code of an operator or of a library such as cuBLAS or NCCL
    node,      ///< an autograd node
    program,   ///< native code of the program itself, or of a library outside the system's folders
    library,   ///< Python code that is not the user's: packages, the standard library, generated code
    console,   ///< Python code without a file: <stdin>, <string>
    user,      ///< Python code of the user
};

inline bool is_python(FrameRole role) { return role >= FrameRole::library; }

/// Returns whether a frame says by its file and line where the program allocates.
inline bool is_located(FrameRole role) { return role == FrameRole::program || is_python(role); }

/// Returns the role of a frame by its names. `line` is 0 if unknown.
FrameRole role_of_frame(std::string_view function, std::string_view file, int32_t line);

/// Returns a short name of a native function: without return type, arguments, template arguments, anonymous namespaces
/// and suffixes of the compiler. Returns "AddmmBackward0::apply" for all functions of an autograd node, and
/// "at::_ops::mm" for both entries of an operator.
std::string native_name(std::string_view function);

}  // namespace tidemark
