// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/explain/library_changes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "storage/explain/program_blocks.h"
#include "storage/explain/python_code.h"

namespace tidemark {
namespace {

using namespace python_code;
using namespace std::string_view_literals;

std::optional<SourcePlace> only_line_with(const Trace& trace, std::string_view text) {
    const std::vector<SourcePlace> lines = lines_with(trace, text);
    return lines.size() == 1 ? std::optional(lines.front()) : std::nullopt;
}

/// Returns the text before " = "; "" if there is none.
std::string_view targets_of(std::string_view code) {
    const size_t end = code.find(" = ");
    return end == code.npos ? std::string_view() : code.substr(0, end);
}

/// Returns the operand that ends at the position: "self.tagger" of "self.tagger.step(x)" and the position of ".step".
std::string_view operand_before(std::string_view code, size_t end) {
    size_t begin = std::min(end, code.size());
    while (begin > 0 && (is_part_of_name(code[begin - 1]) || code[begin - 1] == '.')) {
        --begin;
    }
    const std::string_view operand = code.substr(begin, end - begin);
    return is_operand(operand) ? operand : std::string_view();
}

bool is_one_statement(const Trace& trace, const SourcePlace& line) {
    const std::string_view code = code_of(line.text);
    return is_whole_statement(trace, line) && !code.ends_with(':') && !code.starts_with("return");
}

/// Returns the line that updates the metric, by update() or by a call.
std::optional<SourcePlace> line_of_update(const Trace& trace, std::string_view metric) {
    const auto update = only_line_with(trace, fmt::format("{}.update(", metric));
    return update ? update : only_line_with(trace, fmt::format("{}(", metric));
}

/// Adds the line before the inner one of two loops around the only call of a method: the outer loop begins a new use
/// of the object. `object`: within the method, "self.metric".
std::string before_loop_of_caller(const Trace& trace, const SourcePlace& method, std::string_view object,
                                  std::string_view call) {
    constexpr std::string_view self = "self.";
    const std::string beginning = fmt::format("{}(", name_of_function(method.text));
    std::vector<SourcePlace> callers = lines_with(trace, beginning);
    std::erase_if(callers, [](const SourcePlace& line) { return !name_of_function(line.text).empty(); });
    if (callers.size() != 1 || !object.starts_with(self)) {
        return {};
    }
    const SourcePlace& caller = callers.front();
    if (code_of(caller.text).starts_with(beginning)) {
        return {};
    }
    const std::string_view receiver = operand_before(caller.text, find_begin_of_name(caller.text, beginning) - 1);
    const auto loop = loop_around(trace, caller);
    const bool has_outer = loop && loop_around(trace, *loop);
    return receiver.empty() || !has_outer
               ? std::string()
               : inserting_diff_before(trace, *loop,
                                       fmt::format("{}.{}{}", receiver, object.substr(self.size()), call));
}

/// A method that adds an adapter.
struct AddingCall {
    std::string_view text;
    size_t position;  ///< of the argument that is the name
};
constexpr std::array adding_calls{AddingCall{".add_adapter(", 0}, AddingCall{".load_adapter(", 1}};

/// Returns the argument of the call that names the adapter; "" if the line has no such call.
std::string_view name_of_adapter(std::string_view line, const AddingCall& call) {
    constexpr std::string_view keyword = "adapter_name=";
    const size_t at = line.find(call.text), open = at + call.text.size() - 1;
    const size_t length = at == line.npos ? 0 : length_of_brackets(line.substr(open));
    if (length == 0) {
        return {};
    }
    const auto arguments = split_arguments(line.substr(open + 1, length - 2));
    const auto named = std::find_if(arguments.begin(), arguments.end(),
                                    [&](std::string_view argument) { return argument.starts_with(keyword); });
    if (named != arguments.end()) {
        return named->substr(keyword.size());
    }
    return call.position < arguments.size() ? arguments[call.position] : std::string_view();
}

}  // namespace

std::string reset_metric_diff(const Trace& trace, std::string_view metric) {
    constexpr std::string_view call = ".reset()";
    const std::string reset = fmt::format("{}{}", metric, call);
    const auto compute = only_line_with(trace, fmt::format("{}.compute()", metric));
    if (compute && is_one_statement(trace, *compute)) {
        return inserting_diff_after(trace, *compute, reset, *compute);
    }
    const auto update = line_of_update(trace, metric);
    if (!update) {
        return {};
    }
    const auto loop = loop_around(trace, *update);
    const auto method = function_around(trace, *update);
    if (!loop) {
        return method ? before_loop_of_caller(trace, *method, metric, call) : std::string();
    }
    const bool is_computed_after = compute && method == function_around(trace, *compute);
    return is_computed_after || loop_around(trace, *loop) ? inserting_diff_before(trace, *loop, reset) : std::string();
}

std::string variable_of_class(const Trace& trace, std::string_view type) {
    const auto line = only_line_with(trace, fmt::format("{}(", type));
    const std::string_view target = line ? targets_of(code_of(line->text)) : std::string_view();
    return is_operand(target) && target.find_first_of("([") == target.npos ? std::string(target) : std::string();
}

std::string computed_metric(const Trace& trace, StackId stack) {
    constexpr std::string_view call = ".compute(";
    const auto line = source_place(trace, trace.stacks.site(stack));
    const size_t end = line ? line->text.find(call) : std::string_view::npos;
    if (end == std::string_view::npos) {
        return {};
    }
    size_t begin = end;
    while (begin > 0 && (is_part_of_name(line->text[begin - 1]) || line->text[begin - 1] == '.')) {
        --begin;
    }
    const std::string_view metric = line->text.substr(begin, end - begin);
    return is_operand(metric) ? std::string(metric) : std::string();
}

std::string append_to_method_diff(const Trace& trace, std::string_view owner, std::string_view method,
                                  std::string_view code) {
    std::vector<SourcePlace> definitions = definitions_of(trace, method);
    const bool is_only = definitions.size() == 1;
    std::erase_if(definitions, [&](const SourcePlace& definition) {
        const std::string_view found = class_around(trace, definition);
        return found != owner && !(is_only && found.empty());  // the line with the class may be missing
    });
    return definitions.size() == 1 ? append_to_block_diff(trace, definitions.front(), code) : std::string();
}

std::string free_memory_diff(const Trace& trace, std::string_view accelerator) {
    const auto prepare = only_line_with(trace, fmt::format("{}.prepare(", accelerator));
    const auto function = prepare ? function_around(trace, *prepare) : std::nullopt;
    const std::string_view targets = prepare ? targets_of(code_of(prepare->text)) : std::string_view();
    const std::vector<std::string_view> names = split_arguments(targets);
    if (!function || names.empty() || !std::all_of(names.begin(), names.end(), is_operand)) {
        return {};
    }
    return append_to_block_diff(trace, *function, fmt::format("{} = {}.free_memory({})", targets, accelerator, targets),
                                names);
}

std::optional<AddedAdapter> added_adapter(const Trace& trace, StackId stack) {
    const auto line = source_place(trace, trace.stacks.site(stack));
    for (const AddingCall& call : adding_calls) {
        const std::string_view name = line ? name_of_adapter(line->text, call) : std::string_view();
        const std::string_view model =
            line ? operand_before(line->text, line->text.find(call.text)) : std::string_view();
        if (is_operand(name) && !model.empty()) {
            return AddedAdapter{*line, name, model};
        }
    }
    return std::nullopt;
}

std::string delete_adapter_diff(const Trace& trace, const AddedAdapter& added) {
    const auto function = function_around(trace, added.place);
    const std::vector<SourcePlace> lines = function ? lines_of_block(trace, *function) : std::vector<SourcePlace>();
    const std::string storing = fmt::format("[{}] = ", added.name);
    for (const SourcePlace& line : lines) {
        const size_t at = line.text.find(storing);
        const std::string_view container = at == line.text.npos ? "" : operand_before(line.text, at);
        const std::string removing = fmt::format(" = {}.pop", container);
        for (const SourcePlace& other : container.empty() ? std::vector<SourcePlace>() : lines) {
            const std::string_view code = code_of(other.text);
            const std::string_view old = code.substr(0, code.find_first_of(", "));
            if (code.find(removing) != code.npos && is_name(old) && is_one_statement(trace, other)) {
                return inserting_diff_after(trace, other, fmt::format("{}.delete_adapter({})", added.model, old),
                                            other);
            }
        }
    }
    return {};
}

}  // namespace tidemark
