// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/trace/frame_role.h"

#include <algorithm>
#include <array>
#include <span>

#include "storage/trace/base_name.h"

namespace tidemark {
namespace {

using Texts = std::span<const std::string_view>;

bool is_separator(char c) { return c == '/' || c == '\\'; }

bool contains(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }
bool contains_any(std::string_view text, Texts parts) {
    return std::any_of(parts.begin(), parts.end(), [&](std::string_view part) { return contains(text, part); });
}
bool starts_with_any(std::string_view text, Texts beginnings) {
    return std::any_of(beginnings.begin(), beginnings.end(), [&](std::string_view b) { return text.starts_with(b); });
}
bool ends_with_any(std::string_view text, Texts endings) {
    return std::any_of(endings.begin(), endings.end(), [&](std::string_view e) { return text.ends_with(e); });
}

// Python.

/// C++ names have scopes or arguments. Python names have neither.
bool is_cpp_name(std::string_view function) { return contains(function, "::") || contains(function, "("); }

bool is_in_pseudo_file(std::string_view file) { return file.front() == '<'; }

/// A script may lack an extension: /usr/bin/torchrun. So do the headers of the C++ library, and stripped programs,
/// which have no lines.
bool is_script_without_extension(std::string_view file, int32_t line) {
    return line > 0 && !contains(base_name(file), ".") && !contains(file, "/include/") && file != "??";
}

bool is_python_frame(std::string_view function, std::string_view file, int32_t line) {
    constexpr std::array<std::string_view, 5> extensions{".py", ".pyw", ".pyx", ".pxd", ".ipynb"};
    return !file.empty() && !is_cpp_name(function) &&
           (ends_with_any(file, extensions) || is_in_pseudo_file(file) || is_script_without_extension(file, line));
}

/// torch.compile writes "ab/cab….py": the name of the folder repeats letters 2 and 3 of a name of 52 letters and
/// digits.
bool is_inductor_file(std::string_view file) {
    constexpr size_t shortest_hash = 40;
    std::string_view name = base_name(file);
    const size_t folder_end = file.size() - name.size();
    if (!name.ends_with(".py") || name.size() < shortest_hash || folder_end < 3) {
        return false;
    }
    name.remove_suffix(3);
    const auto is_hash = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
    return is_separator(file[folder_end - 1]) && file.substr(folder_end - 3, 2) == name.substr(1, 2) &&
           std::all_of(name.begin(), name.end(), is_hash);
}

/// PyTorch that runs from its source tree lies in no site-packages. A user's folder may be named "torch", too.
bool is_in_torch_sources(std::string_view file) {
    constexpr std::array<std::string_view, 16> parts{
        "nn",  "optim",         "autograd", "utils",        "cuda",       "distributed", "fx",     "jit",
        "amp", "functional.py", "func",     "overrides.py", "library.py", "profiler",    "export", "accelerator"};
    for (size_t at = file.find("torch"); at != file.npos; at = file.find("torch", at + 1)) {
        const size_t end = at + 5;
        if ((at > 0 && !is_separator(file[at - 1])) || end >= file.size() || !is_separator(file[end])) {
            continue;
        }
        const std::string_view rest = file.substr(end + 1);
        const std::string_view part = rest.substr(0, rest.find_first_of("/\\"));
        if (rest.starts_with('_') || std::find(parts.begin(), parts.end(), part) != parts.end()) {
            return true;
        }
    }
    return false;
}

FrameRole role_of_pseudo_file(std::string_view function, std::string_view file) {
    constexpr std::array<std::string_view, 5> cells{"<ipython-input", "<command-", "<timed ", "<cell",
                                                    "<torch_package_"};
    constexpr std::array<std::string_view, 5> consoles{"<stdin>", "<string>", "<console>", "<input>", "<doctest"};
    if (starts_with_any(file, cells)) {
        return FrameRole::user;
    }
    // dataclasses and named tuples generate special methods from strings.
    const bool is_special_method = function.starts_with("__") && function.ends_with("__");
    return starts_with_any(file, consoles) && !is_special_method ? FrameRole::console : FrameRole::library;
}

FrameRole role_of_python(std::string_view function, std::string_view file) {
    constexpr std::array<std::string_view, 16> libraries{
        "site-packages/", "site-packages\\", "dist-packages/",     "dist-packages\\",
        "lib/python3",    "lib64/python3",   "lib/pypy3",          "\\Lib\\",
        "torchinductor_", "/.triton/",       "python3.zip",        "_compile_cache/",
        "<frozen ",       "<eval_with_key>", "site-packages.zip/", "importlib/_bootstrap"};
    if (is_in_pseudo_file(file)) {
        return role_of_pseudo_file(function, file);
    }
    // pip writes a script for each command of a package: /usr/local/bin/torchrun.
    const bool is_command = contains(file, "/bin/") && !contains(base_name(file), ".") && function == "<module>";
    // PyTorch Geometric writes code of its layers to the folder for temporary files.
    const bool is_of_geometric = base_name(file).starts_with("torch_geometric.nn.");
    return is_command || is_of_geometric || contains_any(file, libraries) || is_inductor_file(file) ||
                   is_in_torch_sources(file)
               ? FrameRole::library
               : FrameRole::user;
}

// Native code.

bool ends_name(std::string_view rest) { return rest.front() == '(' && !rest.starts_with("(anonymous namespace)"); }

/// Returns the qualified name of a demangled function: "at::_ops::mm::call" for
/// "at::Tensor at::_ops::mm::call<long>(at::Tensor const&)".
std::string qualified_name(std::string_view function) {
    constexpr std::string_view anonymous = "(anonymous namespace)";
    std::string name;
    int depth = 0;  // of template arguments
    for (size_t i = 0; i < function.size(); ++i) {
        const std::string_view rest = function.substr(i);
        if (depth == 0 && name.ends_with("operator")) {
            return name.append(rest.substr(0, rest.find('(', 1)));
        }
        if (depth == 0 && ends_name(rest)) {
            break;
        }
        if (rest.starts_with(anonymous)) {
            i += anonymous.size() - 1 + (rest.substr(anonymous.size()).starts_with("::") ? 2 : 0);
        } else if (rest.front() == '<') {
            ++depth;
        } else if (rest.front() == '>') {
            depth -= depth > 0;
        } else if (depth == 0 && rest.front() == ' ') {
            name.clear();  // what came before is the return type
        } else if (depth == 0) {
            name += rest.front();
        }
    }
    return name;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Returns "AddmmBackward0" for "torch::autograd::generated::AddmmBackward0::apply"; empty if this is no node.
std::string_view node_type(std::string_view name) {
    for (const std::string_view ending : {"::apply", "_apply_functional"}) {
        if (!name.ends_with(ending)) {
            continue;
        }
        const std::string_view scoped = name.substr(0, name.size() - ending.size());
        const size_t scope = scoped.rfind("::");
        const std::string_view type = scope == scoped.npos ? scoped : scoped.substr(scope + 2);
        std::string_view without_number = type;
        while (!without_number.empty() && is_digit(without_number.back())) {
            without_number.remove_suffix(1);
        }
        // A node in Python has frames of its own.
        const bool is_node = name.starts_with("torch::autograd::") || without_number.ends_with("Backward");
        return is_node && type != "PyNode" ? type : std::string_view();
    }
    return {};
}

std::string_view operator_name(std::string_view name) {
    for (const std::string_view ending : {"::call", "::redispatch"}) {
        if (name.starts_with("at::_ops::") && name.ends_with(ending)) {
            return name.substr(0, name.size() - ending.size());
        }
    }
    return name;
}

/// Names of C functions: "method_vectorcall.llvm.122" is "method_vectorcall", and "main+0x1f" is "main".
std::string_view c_name(std::string_view function) { return function.substr(0, function.find_first_of(".+")); }

bool creates_only_memory(std::string_view name) {
    for (const std::string_view scope : {"at::native::", "at::_ops::", "at::", "torch::"}) {
        if (name.starts_with(scope)) {
            const std::string_view function = name.substr(scope.size());
            return function.starts_with("empty") || function.starts_with("new_empty") ||
                   function.starts_with("resize") || function.starts_with("_resize");
        }
    }
    return false;
}

bool is_plumbing(std::string_view name) {
    constexpr std::array<std::string_view, 26> beginnings{"torch::unwind",
                                                          "torch::CapturedTraceback",
                                                          "torch::symbolize",
                                                          "torch::cuda::gather",
                                                          "torch::detail::",
                                                          "torch::dynamo",
                                                          "c10::",
                                                          "at::detail::",
                                                          "at::meta::",
                                                          "at::TensorIterator",
                                                          "at::TensorBase",
                                                          "at::structured_",
                                                          "at::create_out",
                                                          "at::wrapper_",
                                                          "at::maybe_create_proxy",
                                                          "at::autocast::WrapFunction",
                                                          "at::functorch::",
                                                          "at::impl::",
                                                          "torch::autograd::VariableType",
                                                          "torch::autograd::Engine",
                                                          "torch::autograd::Node::",
                                                          "torch::autograd::PyNode",
                                                          "torch::autograd::python::",
                                                          "torch::autograd::THP",
                                                          "torch::ADInplaceOrView",
                                                          "torch::autograd::TypeError"};
    constexpr std::array<std::string_view, 5> scopes{"std::", "__gnu_cxx::", "pybind11::", "boost::", "torch::jit::"};
    return starts_with_any(name, beginnings) || starts_with_any(name, scopes) || contains(name, "Allocator") ||
           contains(name, "TypeError_to_NotImplemented_") || creates_only_memory(name);
}

/// CPython and the C library have thousands of C functions, so only known libraries count.
FrameRole role_of_c_function(std::string_view name) {
    constexpr std::array<std::string_view, 10> libraries{"cublas", "cudnn",    "nccl",     "pnccl",   "cusparse",
                                                         "cufft",  "cusolver", "cutensor", "nvshmem", "hipblas"};
    return starts_with_any(name, libraries) ? FrameRole::op : FrameRole::plumbing;
}

/// Recorded native frames have the absolute path of their source file or, without debug information, that of their
/// program or library.
bool is_file_of_program(std::string_view file, int32_t line) {
    constexpr std::array<std::string_view, 17> folders{
        "/usr/include/",  "/usr/local/cuda", "/usr/lib",       "/lib/",          "/lib64/", "/opt/cuda",
        "/opt/nvidia/",   "site-packages/",  "/build/",        "dist-packages/", "/croot/", "/nvidia/",
        "/pytorch/aten/", "/pytorch/c10/",   "/usr/local/lib", "/usr/src/",      "conda"};
    constexpr std::array<std::string_view, 14> extensions{".cu",  ".cuh", ".cpp", ".cc", ".cxx", ".c",   ".h",
                                                          ".hpp", ".hxx", ".inl", ".rs", ".f90", ".F90", ".ipp"};
    const bool is_source = ends_with_any(file, extensions);
    const bool is_interpreter = line == 0 && base_name(file).starts_with("python");
    return file.starts_with('/') && is_source == (line > 0) && !contains_any(file, folders) && !is_interpreter &&
           !contains(file, "/Python-");
}

/// Returns whether the program contains the function. `name`: without arguments.
bool is_of_program(std::string_view name, std::string_view file, int32_t line) {
    constexpr std::array<std::string_view, 9> libraries{
        "at::", "c10::", "torch::", "c10d::", "cutlass::", "thrust::", "cub::", "__gnu_cxx", "std::"};
    return is_file_of_program(file, line) && !starts_with_any(name, libraries);
}

FrameRole role_of_native(std::string_view function, std::string_view file, int32_t line) {
    if (!is_cpp_name(function)) {
        const FrameRole role = role_of_c_function(function);
        const bool is_nameless = function.starts_with("0x");  // an address of a stripped program
        return role != FrameRole::plumbing || !is_of_program(function, file, line) ? role
               : is_nameless                                                       ? FrameRole::native
                                                                                   : FrameRole::program;
    }
    const std::string name = qualified_name(function);
    if (!node_type(name).empty()) {
        return FrameRole::node;
    }
    if (is_of_program(name, file, line)) {
        return FrameRole::program;
    }
    if (name.empty() || is_plumbing(name)) {
        return FrameRole::plumbing;
    }
    constexpr std::array<std::string_view, 5> ops{"at::", "c10d::", "torch::autograd::", "torch::nn::", "cutlass::"};
    return starts_with_any(name, ops) ? FrameRole::op : FrameRole::native;
}

}  // namespace

FrameRole role_of_frame(std::string_view function, std::string_view file, int32_t line) {
    return is_python_frame(function, file, line) ? role_of_python(function, file)
                                                 : role_of_native(function, file, line);
}

std::string native_name(std::string_view function) {
    if (!is_cpp_name(function)) {
        return std::string(c_name(function));
    }
    const std::string name = qualified_name(function);
    if (const std::string_view type = node_type(name); !type.empty()) {
        return std::string(type) + "::apply";
    }
    return name.empty() ? std::string(function) : std::string(operator_name(name));
}

}  // namespace tidemark
