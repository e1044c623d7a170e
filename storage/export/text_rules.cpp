// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/export/text_rules.h"

#include <algorithm>
#include <array>

#include "storage/export/public_names.h"
#include "storage/format/schema.h"
#include "storage/graph/categories.h"
#include "storage/trace/frame_role.h"
#include "storage/trace/meetings.h"

namespace tidemark {
namespace {

using namespace std::string_view_literals;

std::string_view file_name_of(std::string_view path) { return path.substr(path.find_last_of("/\\") + 1); }

/// Returns the ending of a source file or library; other endings may be part of a name.
std::string_view ending_of(std::string_view path) {
    constexpr std::array known{".py"sv, ".pyx"sv, ".ipynb"sv, ".so"sv, ".cpp"sv, ".cc"sv, ".cu"sv, ".h"sv};
    const size_t dot = path.rfind('.');
    const std::string_view ending = dot == path.npos ? ""sv : path.substr(dot);
    return std::find(known.begin(), known.end(), ending) == known.end() ? ""sv : ending;
}

bool is_lowercase_letter(char c) { return c >= 'a' && c <= 'z'; }

/// Returns whether the text contains a path, or a file name such as "train.py" or "model.pt".
bool may_contain_path(std::string_view text) {
    constexpr std::array endings{
        "py"sv,  "pyx"sv, "ipynb"sv, "json"sv, "yaml"sv,   "yml"sv,     "toml"sv,       "csv"sv, "tsv"sv, "txt"sv,
        "log"sv, "pt"sv,  "pth"sv,   "ckpt"sv, "bin"sv,    "npz"sv,     "npy"sv,        "pkl"sv, "so"sv,  "cpp"sv,
        "cu"sv,  "h"sv,   "cc"sv,    "tide"sv, "sh"sv,     "cfg"sv,     "ini"sv,        "md"sv,  "zip"sv, "gz"sv,
        "tar"sv, "h5"sv,  "onnx"sv,  "db"sv,   "pickle"sv, "parquet"sv, "safetensors"sv};
    if (text.find_first_of("/\\~") != text.npos) {
        return true;
    }
    for (size_t dot = text.find('.'); dot != text.npos; dot = text.find('.', dot + 1)) {
        size_t end = dot + 1;
        while (end < text.size() && (is_lowercase_letter(text[end]) || text[end] == '5')) {
            ++end;
        }
        if (std::find(endings.begin(), endings.end(), text.substr(dot + 1, end - dot - 1)) != endings.end()) {
            return true;
        }
    }
    return false;
}

bool is_native(std::string_view file) { return file.empty() || file == "??" || is_public_library(file_name_of(file)); }

/// "0/0", "1/2_1": torch.compile numbers its frames.
bool is_numbered_context(std::string_view text) {
    return text.find_first_not_of("0123456789/_ []") == text.npos && text.find_first_of("0123456789") != text.npos;
}

/// "40 of 4000": the bytes of a view and of its storage, or the number and the bytes of arrays.
bool are_sizes(std::string_view text) {
    constexpr std::string_view of = " of ";
    const size_t at = text.find(of);
    return at != text.npos && is_number(text.substr(0, at)) && is_number(text.substr(at + of.size()));
}

template <class Part>
std::string map_parts(const std::string& text, std::string_view separator, Part&& part) {
    std::string result;
    size_t begin = 0;
    for (;;) {
        const size_t end = text.find(separator, begin);
        result += part(text.substr(begin, end == text.npos ? end : end - begin));
        if (end == text.npos) {
            return result;
        }
        result += separator;
        begin = end + separator.size();
    }
}

/// Returns whether a text is a list of tables: "string, mark".
bool are_tables(const std::string& list) {
    bool are_known = true;
    map_parts(list, ", ", [&](const std::string& table) {
        are_known = are_known && is_table_name(table);
        return table;
    });
    return are_known;
}

}  // namespace

TextRules::TextRules(const Redaction& redaction, const Trace& trace, const GraphTables* graph) : redaction_(redaction) {
    for (StringId id = 0; id < trace.stacks.string_count(); ++id) {
        taken_.insert(trace.stacks.string(id));
    }
    for (const Annotation& annotation : trace.annotations) {
        taken_.insert(annotation.name);
    }
    for (const Mark& mark : trace.marks) {
        taken_.insert(mark.name);
    }
    for (const Stream& stream : trace.streams) {
        taken_.insert(stream.name);
    }
    for (const Origin& origin : trace.origins) {
        taken_.insert({origin.op, origin.module, origin.phase.text, origin.compile_context});
    }
    for (const DriverAllocation& allocation : trace.driver_allocations) {
        taken_.insert(allocation.source);
    }
    if (graph != nullptr) {
        taken_.insert(graph->texts.begin(), graph->texts.end());
    }
}

std::string TextRules::allow(std::string text) {
    allowed_.insert(text);
    return text;
}

/// Returns whether nothing asks to replace a name.
bool TextRules::stays(const std::string& text) const {
    return text.empty() || (!redaction_.names && !(redaction_.paths && may_contain_path(text)));
}

std::string TextRules::name(const std::string& text, StandIns& stand_ins) {
    return allow(stays(text) ? text : stand_ins(text));
}

// ---- paths ------------------------------------------------------------------------------------------------------

/// A stand-in of a library's file stays a library's file, so that the user's lines of a stack stay the same.
std::string TextRules::file(const std::string& path) {
    if (!redaction_.paths || path.empty()) {
        return allow(path);
    }
    if (const auto kept = public_file(path)) {
        return allow(*kept);
    }
    const std::string file_name(file_name_of(path));
    const std::string stand_in =
        is_native(path) && is_public_library(file_name) ? file_name : files_(path, ending_of(path));
    if (const std::string package = package_of(path); !package.empty()) {
        return allow(
            fmt::format("site-packages/{}/{}", is_public_package(package) ? package : packages_(package), stand_in));
    }
    const auto is_library = [](std::string_view file) { return role_of_frame("", file, 1) == FrameRole::library; };
    return allow(is_library(path) && !is_library(stand_in) ? fmt::format("site-packages/{}", stand_in) : stand_in);
}

std::string TextRules::library(const std::string& path) {
    if (!redaction_.paths || path.empty()) {
        return allow(path);
    }
    const std::string file_name(file_name_of(path));
    return allow(is_public_library(file_name) ? file_name : libraries_(path, ending_of(file_name)));
}

std::string TextRules::file_or_module(const std::string& text) {
    const std::string package = text.substr(0, text.find('.'));
    const bool is_public = is_pythons_own_name(text) || (is_public_package(package) && is_public_function(text));
    if (text.empty() || may_contain_path(text) || is_public) {
        return is_public ? allow(text) : file(text);
    }
    return allow(redaction_.names || redaction_.paths ? files_(text) : text);
}

// ---- names ------------------------------------------------------------------------------------------------------

/// The name of a method that a library calls stays, so that the copy is explained like the original:
/// "function1.forward".
std::string TextRules::function(const std::string& text, const std::string& file) {
    const bool is_public = is_pythons_own_name(text) || text == "??" || is_public_library(text) ||
                           (is_native(file) ? is_public_symbol(text) : is_public_function(text) && public_file(file));
    if (is_public) {
        return allow(text);
    }
    const size_t dot = text.rfind('.');
    const std::string method = text.substr(dot + 1);  // all of it without a dot
    const bool is_called = method == "forward" || method == "backward" || is_pythons_own_name(method);
    if (is_native(file) || !is_called || stays(text)) {
        return name(text, functions_);
    }
    return allow(dot == text.npos ? method : fmt::format("{}.{}", functions_(text.substr(0, dot)), method));
}

/// "aten::mm", "MmBackward0 > aten::mm", "autograd::engine::evaluate_function: MmBackward0".
std::string TextRules::op(const std::string& text) {
    if (!redaction_.names) {
        return name(text, ops_);
    }
    return allow(map_parts(text, " > ", [&](const std::string& part) { return one_op(part); }));
}

std::string TextRules::one_op(const std::string& text) {
    constexpr std::string_view engine = "autograd::engine::evaluate_function: ";
    if (text.starts_with(engine)) {
        return fmt::format("{}{}", engine, node(text.substr(engine.size())));
    }
    for (const auto& [start, end] :
         {std::pair("Optimizer.step#"sv, ".step"sv), std::pair("Optimizer.zero_grad#"sv, ".zero_grad"sv)}) {
        if (text.starts_with(start) && text.ends_with(end) && text.size() > start.size() + end.size()) {
            const std::string optimizer = text.substr(start.size(), text.size() - start.size() - end.size());
            return fmt::format("{}{}{}", start, is_public_function(optimizer) ? optimizer : optimizers_(optimizer),
                               end);
        }
    }
    return text.empty() || is_public_op(text) || is_public_node(text) ? text : ops_(text);
}

/// Names each part of "model.layers.0.weight" on its own, so that modules stay nested.
std::string TextRules::dotted(const std::string& path) {
    return map_parts(path, ".", [&](const std::string& part) {
        const bool is_index = part.size() <= 4 && part.find_first_not_of("0123456789") == part.npos;
        return part.empty() || is_index ? part : modules_(part);
    });
}

std::string TextRules::module(const std::string& path) {
    return redaction_.names ? allow(dotted(path)) : name(path, modules_);
}

/// "model.weight", "exp_avg of model.weight as Shard(dim=0)".
std::string TextRules::parameter(const std::string& text) {
    if (!redaction_.names) {
        return name(text, parameters_);
    }
    const LabelName parts = parts_of_label(text);
    std::string written = dotted(std::string(parts.tensor));
    if (const std::string state(parts.state); !state.empty()) {
        written = fmt::format("{} of {}", is_public_optimizer_state(state) ? state : states_(state), written);
    }
    return allow(are_public_placements(parts.placements) ? fmt::format("{} as {}", written, parts.placements)
                                                         : written);
}

/// "3 of Sequential": attributes of modules get the names that module paths have, because readers compare them.
std::string TextRules::attribute(const std::string& text) {
    constexpr std::string_view of = " of ";
    const size_t at = text.find(of);
    return allow(at == text.npos
                     ? dotted(text)
                     : fmt::format("{}{}{}", dotted(text.substr(0, at)), of, modules_(text.substr(at + of.size()))));
}

std::string TextRules::variable(const std::string& text, const Fact<PathLinkKind>& kind) {
    const bool is_ours = (kind == PathLinkKind::index && is_number(text)) ||
                         ((kind == PathLinkKind::view || kind == PathLinkKind::arrays) && are_sizes(text)) ||
                         (kind == PathLinkKind::callback && text == "atexit");
    if (is_ours || is_public_library(text)) {
        return allow(text);
    }
    return kind == PathLinkKind::attribute && redaction_.names ? attribute(text) : name(text, variables_);
}

std::string TextRules::node(const std::string& type) { return is_public_node(type) ? allow(type) : name(type, nodes_); }

std::string TextRules::saved(const std::string& text) {
    return is_public_saved_name(text) ? allow(text) : name(text, saved_);
}

std::string TextRules::range(const Annotation& annotation) {
    const std::string& text = annotation.name;
    const auto phase = fact_from_word<Phase>(text);
    if (annotation.kind == AnnotationKind::garbage_collection) {
        constexpr std::string_view start = "garbage collection (", end = " objects)";
        const bool is_ours =
            text.starts_with(start) && text.ends_with(end) &&
            is_number(std::string_view(text).substr(start.size(), text.size() - start.size() - end.size()));
        return !redaction_.replaces_texts() || is_ours ? allow(text) : allow("garbage collection");
    }
    if (annotation.kind == AnnotationKind::details_paused) {
        return allow("details paused");
    }
    if (annotation.kind == AnnotationKind::collective && is_meeting_name(text)) {
        return allow(text);
    }
    if (annotation.kind == AnnotationKind::phase && phase != Phase::named) {
        return allow(text);
    }
    return allow(stays(text) ? text : ranges_(text));
}

std::string TextRules::mark(const std::string& text) { return name(text, marks_); }
std::string TextRules::stream(const std::string& text) { return name(text, streams_); }
std::string TextRules::phase(const std::string& text) { return name(text, phases_); }

std::string TextRules::compile_context(const std::string& context) {
    return is_numbered_context(context) ? allow(context) : name(context, contexts_);
}

std::string TextRules::action(const OtherEvent& event) {
    const bool is_known = event.action != Action::unknown || !redaction_.replaces_texts();
    return allow(is_known ? event.name : actions_(event.name));
}

// ---- texts of any content ---------------------------------------------------------------------------------------

std::string TextRules::source(const std::string& text) {
    return allow(redaction_.replaces_texts() ? "withheld by the person who shared this trace" : text);
}

std::string TextRules::free_text(const std::string& text) {
    return allow(redaction_.replaces_texts() ? std::string() : text);
}

std::string TextRules::device(const std::string& text) {
    return is_public_device(text) ? allow(text) : free_text(text);
}

std::string TextRules::end_details(const Fact<ProcessEnd>& end) {
    const bool has_number = end == ProcessEnd::exited || end == ProcessEnd::killed;
    return has_number && is_number(end.text) ? allow(end.text) : free_text(end.text);
}

bool TextRules::allows_setting(const std::string& key, const std::string& value) {
    const bool stays = !redaction_.replaces_texts() || (is_public_setting(key) && is_public_setting_value(value));
    if (stays) {
        allow("setting." + key);
        allow(value);
    }
    return stays;
}

bool TextRules::allows_argument(const std::string& key, const std::string& value) {
    constexpr std::array numbers{"first"sv,           "last"sv,         "events"sv,  "device"sv,   "event"sv,
                                 "segments"sv,        "blocks"sv,       "from_ns"sv, "until_ns"sv, "allocations"sv,
                                 "requested_bytes"sv, "signal"sv,       "kept"sv,    "lost"sv,     "limit"sv,
                                 "earlier"sv,         "earlier_bytes"sv};
    const bool is_known_number = is_number(value) && std::find(numbers.begin(), numbers.end(), key) != numbers.end();
    const bool is_known_word = (key == "of_whole_trace" && value == "yes") || (key == "tables" && are_tables(value)) ||
                               (key == "what" && redaction_from_names(value));
    const bool stays = !redaction_.replaces_texts() || is_known_number || is_known_word;
    if (stays) {
        allow(key);
        allow(value);
    }
    return stays;
}

}  // namespace tidemark
