// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The names that a redacted trace may keep, because they are published: packages, files and functions of PyTorch and
// of other public packages, ops, autograd nodes, libraries of NVIDIA. All of them are closed lists (vocabulary/*.txt):
// a name that is on no list is the user's.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tidemark {

/// Returns a public source file as it is the same on every machine: "site-packages/torch/nn/functional.py",
/// "/lib/python3.12/runpy.py", "<frozen runpy>", "libtorch_cpu.so". Nothing if any part of it is on no list.
std::optional<std::string> public_file(std::string_view path);

/// Returns the package below site-packages of a path, or an empty text. It need not be public.
std::string package_of(std::string_view path);
bool is_public_package(std::string_view package);

/// Returns whether each part of a function's qualified name is on a list: "Module.cuda.<locals>.<lambda>".
bool is_public_function(std::string_view name);
/// Returns whether Python chose the name: "<module>", "<lambda>", "__init__".
bool is_pythons_own_name(std::string_view name);
/// Returns whether all words of a C++ symbol are on a list: "at::native::empty_cuda(...)".
bool is_public_symbol(std::string_view symbol);

/// "aten::mm"; "detach" as PyTorch shortens some.
bool is_public_op(std::string_view op);
/// "MmBackward0", "torch::autograd::AccumulateGrad".
bool is_public_node(std::string_view type);
/// The name of a tensor that a public node saves: "self", "weight[7]".
bool is_public_saved_name(std::string_view name);
/// The name of a tensor in an optimizer's state: "exp_avg".
bool is_public_optimizer_state(std::string_view name);
/// How a DTensor is distributed: "Shard(dim=0), Replicate()". Not an empty text.
bool are_public_placements(std::string_view placements);

/// The file name of a shared library: "libcublas.so.13".
bool is_public_library(std::string_view file_name);
/// "NVIDIA H200".
bool is_public_device(std::string_view name);
/// A setting of PyTorch's allocator.
bool is_public_setting(std::string_view name);
/// Numbers, booleans and names of settings only: "{\"1\": 0, \"2\": 0}", "expandable_segments:True".
bool is_public_setting_value(std::string_view value);

bool is_number(std::string_view text);

namespace vocabulary {
extern const std::string_view devices, libraries, modules, nodes, ops, packages, saved, words;
}

}  // namespace tidemark
