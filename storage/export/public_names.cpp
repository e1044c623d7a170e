// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/export/public_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <unordered_set>
#include <vector>

#include "storage/export/all_words.h"

namespace tidemark {
namespace {

using namespace std::string_view_literals;
using Names = std::unordered_set<std::string_view>;

std::vector<std::string_view> split(std::string_view text, std::string_view separator) {
    std::vector<std::string_view> parts;
    for (size_t at; (at = text.find(separator)) != text.npos; text.remove_prefix(at + separator.size())) {
        parts.push_back(text.substr(0, at));
    }
    parts.push_back(text);
    return parts;
}

Names names_in(std::string_view list) {
    const auto lines = split(list, "\n");
    Names names(lines.begin(), lines.end());
    names.erase("");
    return names;
}

bool is_on(std::string_view name, std::string_view list) {
    static const std::array lists{std::pair(vocabulary::devices.data(), names_in(vocabulary::devices)),
                                  std::pair(vocabulary::libraries.data(), names_in(vocabulary::libraries)),
                                  std::pair(vocabulary::modules.data(), names_in(vocabulary::modules)),
                                  std::pair(vocabulary::nodes.data(), names_in(vocabulary::nodes)),
                                  std::pair(vocabulary::ops.data(), names_in(vocabulary::ops)),
                                  std::pair(vocabulary::packages.data(), names_in(vocabulary::packages)),
                                  std::pair(vocabulary::saved.data(), names_in(vocabulary::saved)),
                                  std::pair(vocabulary::words.data(), names_in(vocabulary::words))};
    const auto found = std::find_if(lists.begin(), lists.end(), [&](const auto& l) { return l.first == list.data(); });
    return found->second.contains(name);
}

template <size_t n>
bool is_one_of(std::string_view text, const std::array<std::string_view, n>& known) {
    return std::find(known.begin(), known.end(), text) != known.end();
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_word_char(char c) { return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digits(std::string_view text) { return !text.empty() && std::all_of(text.begin(), text.end(), is_digit); }

bool is_word(std::string_view name) { return is_on(name, vocabulary::words); }

/// Removes the ending that a source file or extension module has in public packages. Returns false if it has none.
bool remove_ending(std::string_view& file) {
    for (const std::string_view ending : {".py"sv, ".pyx"sv, ".pyi"sv, ".cpp"sv, ".cu"sv, ".cuh"sv, ".h"sv}) {
        if (file.ends_with(ending)) {
            file.remove_suffix(ending.size());
            return true;
        }
    }
    constexpr std::string_view python = ".cpython-3";
    const size_t abi = file.find(python);
    for (const std::string_view ending : {"-x86_64-linux-gnu.so"sv, "-aarch64-linux-gnu.so"sv}) {
        if (abi != file.npos && file.ends_with(ending)) {
            std::string_view minor = file.substr(abi + python.size());
            minor.remove_suffix(ending.size());
            if (is_digits(minor)) {
                file = file.substr(0, abi);
                return true;
            }
        }
    }
    return false;
}

/// Returns whether all folders from position `first` on and the file are words of public packages.
bool is_public_rest(const std::vector<std::string_view>& parts, size_t first) {
    std::string_view file = parts.back();
    if (first >= parts.size() || !remove_ending(file) || !is_word(file)) {
        return false;
    }
    return std::all_of(parts.begin() + static_cast<ptrdiff_t>(first), parts.end() - 1, is_word);
}

std::string with_slashes(std::string_view path) {
    std::string result(path);
    std::replace(result.begin(), result.end(), '\\', '/');
    return result;
}

/// Returns the part below the last site-packages folder; empty if there is none.
std::string_view below_packages(std::string_view path) {
    for (const std::string_view mark : {"/site-packages/"sv, "/dist-packages/"sv}) {
        if (const size_t at = path.rfind(mark); at != path.npos) {
            return path.substr(at + mark.size());
        }
        if (path.starts_with(mark.substr(1))) {
            return path.substr(mark.size() - 1);
        }
    }
    return {};
}

std::optional<std::string> public_package_file(std::string_view below) {
    const auto parts = split(below, "/");
    std::string_view package = parts.front();
    const bool is_module = parts.size() == 1 && remove_ending(package);
    if (!is_public_package(package) || !(is_module || is_public_rest(parts, 1))) {
        return std::nullopt;
    }
    return fmt::format("site-packages/{}", below);
}

/// Files of the standard library: ".../lib/python3.12/concurrent/futures/thread.py".
std::optional<std::string> public_standard_file(std::string_view path) {
    constexpr std::string_view mark = "/lib/python3.";
    const size_t at = path.rfind(mark);
    const size_t slash = at == path.npos ? path.npos : path.find('/', at + mark.size());
    if (slash == path.npos) {
        return std::nullopt;
    }
    std::string_view version = path.substr(at + mark.size(), slash - at - mark.size());
    version.remove_suffix(version.ends_with('t') ? 1 : 0);
    const auto parts = split(path.substr(slash + 1), "/");
    std::string_view module = parts.front();
    const bool is_file = parts.size() == 1 && remove_ending(module);
    const bool is_public = is_digits(version) && version.size() <= 2 && is_on(module, vocabulary::modules) &&
                           (is_file || is_public_rest(parts, 1));
    return is_public ? std::optional(std::string(path.substr(at))) : std::nullopt;
}

/// Names of code without a file.
bool is_public_pseudo_file(std::string_view name) {
    constexpr std::array known{"??"sv, "<string>"sv, "<stdin>"sv, "<eval_with_key>"sv,
                               "<__array_function__ internals>"sv};
    constexpr std::string_view generated = "<eval_with_key>.", frozen = "<frozen ";
    if (name.starts_with(frozen) && name.ends_with('>')) {
        const auto parts = split(name.substr(frozen.size(), name.size() - frozen.size() - 1), ".");
        return is_on(parts.front(), vocabulary::modules) && std::all_of(parts.begin() + 1, parts.end(), is_word);
    }
    return is_one_of(name, known) || (name.starts_with(generated) && is_digits(name.substr(generated.size())));
}

/// PyTorch's own sources, by the relative paths that its builds contain.
bool is_public_source(std::string_view path) {
    const auto parts = split(path, "/");
    return is_one_of(parts.front(), std::array{"torch"sv, "aten"sv, "c10"sv}) && parts.size() > 1 &&
           is_public_rest(parts, 1);
}

}  // namespace

bool is_number(std::string_view text) {
    return !text.empty() && text.size() <= 40 && text.find_first_of("0123456789") != text.npos &&
           text.find_first_not_of("0123456789+-.eE") == text.npos && !text.ends_with('e') && !text.ends_with('E') &&
           (is_digit(text[0]) || text[0] == '-' || text[0] == '+');
}

std::optional<std::string> public_file(std::string_view original) {
    if (is_public_pseudo_file(original)) {
        return std::string(original);
    }
    const std::string path = with_slashes(original);
    if (const std::string_view below = below_packages(path); !below.empty()) {
        return public_package_file(below);
    }
    const std::string_view file = std::string_view(path).substr(path.rfind('/') + 1);
    if (is_public_library(file)) {
        return std::string(file);
    }
    return is_public_source(path) ? std::optional(path) : public_standard_file(path);
}

std::string package_of(std::string_view path) {
    const std::string slashed = with_slashes(path);
    const std::string_view below = below_packages(slashed);
    return below.find('/') == below.npos ? std::string() : std::string(below.substr(0, below.find('/')));
}

bool is_public_package(std::string_view package) { return is_on(package, vocabulary::packages); }

bool is_pythons_own_name(std::string_view name) {
    constexpr std::array known{"<module>"sv,
                               "<lambda>"sv,
                               "<listcomp>"sv,
                               "<setcomp>"sv,
                               "<dictcomp>"sv,
                               "<genexpr>"sv,
                               "<locals>"sv,
                               "__main__"sv,
                               "__init__"sv,
                               "__new__"sv,
                               "__del__"sv,
                               "__call__"sv,
                               "__enter__"sv,
                               "__exit__"sv,
                               "__aenter__"sv,
                               "__aexit__"sv,
                               "__iter__"sv,
                               "__next__"sv,
                               "__getitem__"sv,
                               "__setitem__"sv,
                               "__delitem__"sv,
                               "__getattr__"sv,
                               "__setattr__"sv,
                               "__getattribute__"sv,
                               "__len__"sv,
                               "__contains__"sv,
                               "__repr__"sv,
                               "__str__"sv,
                               "__hash__"sv,
                               "__eq__"sv,
                               "__add__"sv,
                               "__radd__"sv,
                               "__iadd__"sv,
                               "__sub__"sv,
                               "__rsub__"sv,
                               "__mul__"sv,
                               "__rmul__"sv,
                               "__matmul__"sv,
                               "__truediv__"sv,
                               "__rtruediv__"sv,
                               "__pow__"sv,
                               "__neg__"sv,
                               "__post_init__"sv,
                               "__get__"sv,
                               "__set__"sv,
                               "__reduce__"sv,
                               "__reduce_ex__"sv,
                               "__setstate__"sv,
                               "__getstate__"sv,
                               "__deepcopy__"sv,
                               "__copy__"sv,
                               "__torch_function__"sv,
                               "__torch_dispatch__"sv,
                               "__init_subclass__"sv};
    return is_one_of(name, known);
}

bool is_public_function(std::string_view name) {
    const auto parts = split(name, ".");
    return std::all_of(parts.begin(), parts.end(),
                       [](std::string_view part) { return is_pythons_own_name(part) || is_word(part); });
}

bool is_public_symbol(std::string_view symbol) {
    constexpr std::array known{"at"sv,
                               "c10"sv,
                               "std"sv,
                               "torch"sv,
                               "void"sv,
                               "const"sv,
                               "int"sv,
                               "long"sv,
                               "unsigned"sv,
                               "double"sv,
                               "float"sv,
                               "operator"sv,
                               "call"sv,
                               "cuda"sv,
                               "anonymous"sv,
                               "namespace"sv,
                               "_ops"sv,
                               "_start"sv,
                               "__libc_start_main"sv,
                               "clone"sv};
    const bool has_namespace = symbol.find("at::") != symbol.npos || symbol.find("c10::") != symbol.npos ||
                               symbol.find("torch::") != symbol.npos;
    if (!has_namespace && !std::all_of(symbol.begin(), symbol.end(), is_word_char)) {
        return false;
    }
    if (symbol.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_:<>(),&*[]~+-=! ") !=
        symbol.npos) {
        return false;
    }
    return all_words(symbol, is_word_char, [&](std::string_view word) {
        return is_digits(word) || is_one_of(word, known) || is_word(word) ||
               is_public_op(fmt::format("aten::{}", word));
    });
}

bool is_public_op(std::string_view op) {
    return is_on(op, vocabulary::ops) || is_one_of(op, std::array{"detach"sv, "detach_"sv});
}

bool is_public_node(std::string_view type) {
    constexpr std::string_view space = "torch::autograd::";
    type.remove_prefix(type.starts_with(space) ? space.size() : 0);
    return is_on(type, vocabulary::nodes);
}

bool is_public_saved_name(std::string_view name) {
    const size_t bracket = name.find('[');
    if (bracket != name.npos && name.ends_with(']') && is_digits(name.substr(bracket + 1, name.size() - bracket - 2))) {
        name = name.substr(0, bracket);
    }
    return is_on(name, vocabulary::saved);
}

bool is_public_optimizer_state(std::string_view name) {
    constexpr std::array known{
        "step"sv,     "exp_avg"sv,   "exp_avg_sq"sv, "max_exp_avg_sq"sv, "momentum_buffer"sv, "square_avg"sv,
        "grad_avg"sv, "acc_delta"sv, "sum"sv,        "prev"sv,           "step_size"sv,       "exp_inf"sv,
        "mu"sv,       "eta"sv,       "ax"sv,         "mu_product"sv,     "gradient"sv};
    return is_one_of(name, known);
}

bool are_public_placements(std::string_view placements) {
    constexpr std::array known{"Shard"sv, "_StridedShard"sv, "Replicate"sv, "Partial"sv, "dim"sv,    "sf"sv,
                               "sum"sv,   "avg"sv,           "min"sv,       "max"sv,     "product"sv};
    constexpr std::string_view between = "(), =";
    const bool any = !placements.empty();
    while (!placements.empty()) {
        const size_t word = std::min(placements.find_first_of(between), placements.size());
        const std::string_view text = placements.substr(0, word);
        if (!text.empty() && !is_number(text) && !is_one_of(text, known)) {
            return false;
        }
        placements.remove_prefix(std::min(word + 1, placements.size()));
    }
    return any;
}

bool is_public_library(std::string_view file_name) {
    const size_t ending = file_name.find(".so");
    if (ending == file_name.npos || !is_on(file_name.substr(0, ending), vocabulary::libraries)) {
        return false;
    }
    const auto versions = split(file_name.substr(ending + 3), ".");
    return versions.front().empty() && std::all_of(versions.begin() + 1, versions.end(), is_digits);
}

bool is_public_device(std::string_view name) {
    const auto is_part = [](std::string_view part) {
        std::string_view memory = part;
        memory.remove_suffix(memory.ends_with("GB") ? 2 : 0);
        return is_on(part, vocabulary::devices) || (is_digits(memory) && memory.size() <= 5);
    };
    const auto parts = split(name, " ");
    return is_on(parts.front(), vocabulary::devices) && std::all_of(parts.begin(), parts.end(), is_part);
}

bool is_public_setting(std::string_view name) {
    constexpr std::array known{"max_split_size"sv,
                               "max_split_size_mb"sv,
                               "max_non_split_rounding_mb"sv,
                               "garbage_collection_threshold"sv,
                               "expandable_segments"sv,
                               "pinned_num_register_threads"sv,
                               "pinned_reserve_segment_size_mb"sv,
                               "pinned_use_background_threads"sv,
                               "pinned_use_cuda_host_register"sv,
                               "release_lock_on_cudamalloc"sv,
                               "release_lock_on_hipmalloc"sv,
                               "graph_capture_record_stream_reuse"sv,
                               "per_process_memory_fraction"sv,
                               "roundup_power2_divisions"sv,
                               "backend"sv,
                               "PYTORCH_ALLOC_CONF"sv,
                               "PYTORCH_CUDA_ALLOC_CONF"sv,
                               "PYTORCH_HIP_ALLOC_CONF"sv};
    return is_one_of(name, known);
}

bool is_public_setting_value(std::string_view value) {
    constexpr std::array known{"true"sv, "false"sv, "True"sv, "False"sv, "null"sv, "native"sv, "cudaMallocAsync"sv};
    if (value.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_:,.[]{}\" -+><") !=
        value.npos) {
        return false;
    }
    return all_words(
        value, [](char c) { return is_word_char(c) || c == '.'; },
        [&](std::string_view word) { return is_number(word) || is_one_of(word, known) || is_public_setting(word); });
}

}  // namespace tidemark
