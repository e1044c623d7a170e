// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/explain/suggested_change.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "storage/explain/program_blocks.h"
#include "storage/explain/python_code.h"
#include "storage/explain/source_change.h"
#include "storage/trace/stack_search.h"

namespace tidemark {
namespace {

using namespace python_code;
using namespace std::string_view_literals;

bool is_call(std::string_view text) { return is_operand(text) && text.ends_with(')'); }

bool is_without_graph(std::string_view code) {
    return code.find(".item()") != code.npos || code.find(".detach()") != code.npos;
}

/// Returns the position behind "total += " or "total = total + "; npos for other code.
size_t end_of_sum(std::string_view code) {
    constexpr std::string_view in_place = " += ", apart = " = ";
    const size_t blank = code.find(' ');
    const std::string_view target = code.substr(0, blank), rest = blank == code.npos ? "" : code.substr(blank);
    if (rest.starts_with(in_place)) {
        return target.size() + in_place.size();
    }
    const std::string repeated = fmt::format("{}{} + ", apart, target);
    return rest.starts_with(repeated) ? target.size() + repeated.size() : code.npos;
}

bool is_target(std::string_view text) { return is_operand(text) && text.find('(') == text.npos; }

/// Returns "loss" of `loss = f(x)` and of `loss.add_(x)`; "" for other code.
std::string_view target_of(std::string_view code) {
    constexpr std::array updates{" = "sv,     ".add_("sv,     ".sub_("sv,  ".mul_("sv,       ".div_("sv,
                                 ".lerp_("sv, ".addcmul_("sv, ".copy_("sv, ".index_add_("sv, ".masked_fill_("sv};
    for (const std::string_view update : updates) {
        const size_t end = code.find(update);
        if (end != code.npos && is_target(code.substr(0, end))) {
            return code.substr(0, end);
        }
    }
    return {};
}

bool ends_with_bracket(std::string_view code) {
    return code.ends_with('(') || code.ends_with('[') || code.ends_with('{');
}

/// Returns "parameters" of code with "[p.grad for p in parameters]"; "" for other code.
std::string_view parameters_of_gradients(std::string_view code) {
    constexpr std::string_view beginning = ".grad for ", in = " in ";
    const size_t at = code.find(beginning), name = at == code.npos ? at : code.find(in, at);
    if (name == code.npos) {
        return {};
    }
    const std::string_view rest = code.substr(name + in.size());
    const std::string_view parameters = rest.substr(0, rest.find(']'));
    return is_name(parameters) ? parameters : std::string_view();
}

/// Returns the frame that calls the outermost module; the site if no module is called outside of it.
FrameId caller_of_modules(const StackTable& table, StackId stack) {
    const std::vector<FrameId> frames = table.frames_of(stack);
    FrameId caller = table.site(stack);
    for (size_t i = 0; i + 1 < frames.size(); ++i) {
        const bool is_call = is_torch_function(table, table.frame(frames[i]), "nn/modules/module.py");
        if (is_call && table.role(frames[i + 1]) == FrameRole::user) {
            caller = frames[i + 1];
        }
    }
    return caller;
}

/// Returns whether a backward pass executed a node of a stack with this frame.
bool is_backpropagated(const AnalysisContext& context, FrameId frame) {
    const StackTable& table = context.trace().stacks;
    std::vector<bool> has_frame(table.stack_count(), false);
    for (StackId id = 1; id < table.stack_count(); ++id) {
        has_frame[id] = table.stack(id).frame == frame || has_frame[table.stack(id).caller];
    }
    const GraphNodes& nodes = context.graph()->tables().nodes;
    for (NodeIndex n = 0; n < nodes.size(); ++n) {
        if (nodes.executed[n] != never_happened && has_frame[nodes.stack[n]]) {
            return true;
        }
    }
    return false;
}

/// Returns whether this is a call, or "output, state = " and a call.
bool is_call_statement(std::string_view code) {
    const size_t equals = code.find(" = ");
    if (equals == code.npos) {
        return is_call(code);
    }
    std::string targets(code.substr(0, equals));
    std::erase(targets, ',');
    std::erase(targets, ' ');
    return is_operand(targets) && is_call(code.substr(equals + 3));
}

}  // namespace

std::string add_value_diff(const Trace& trace, StackId stack, std::string_view value) {
    const std::optional<SourcePlace> place = source_place(trace, trace.stacks.site(stack));
    if (!place) {
        return {};
    }
    const std::string_view code = code_of(place->text);
    const size_t end = end_of_sum(code);
    const bool is_known = end != code.npos && is_operand(code.substr(end)) && !is_without_graph(code);
    return is_known ? replacing_diff(trace, *place, {fmt::format("{}.{}", code, value)}) : "";
}

std::string release_graph_diff(const Trace& trace) {
    constexpr std::string_view option = "retain_graph=True", call = ".backward(retain_graph=True)";
    std::vector<SourcePlace> found;
    for (const auto& [file, lines] : trace.source_text.files()) {
        for (const auto& [number, text] : lines) {
            if (text.find(option) != text.npos) {
                found.push_back({file, number, text});
            }
        }
    }
    if (found.size() != 1 || !found.front().text.ends_with(call) || found.front().text.find('#') != std::string::npos) {
        return {};
    }
    std::string code(code_of(found.front().text));
    code.replace(code.size() - call.size(), call.size(), ".backward()");
    return replacing_diff(trace, found.front(), {std::move(code)});
}

std::string limit_cache_diff(const Trace& trace, std::string_view function, int64_t limit) {
    constexpr std::string_view method = "lru_cache", unlimited = "cache";
    const auto definitions = definitions_of(trace, function);
    const auto decorator = definitions.size() == 1
                               ? source_place(trace, definitions.front().file, definitions.front().number - 1)
                               : std::nullopt;
    const std::string_view code = decorator ? code_of(decorator->text) : std::string_view();
    const std::string_view name = code.substr(0, code.find('('));
    if (!name.starts_with('@') || !is_operand(name.substr(1)) || (name != code && !code.ends_with(')'))) {
        return {};
    }
    const std::string_view scope = name.substr(0, name.rfind('.') + 1);
    if (name.ends_with(method)) {
        return replacing_diff(trace, *decorator, {fmt::format("{}(maxsize={})", name, limit)});
    }
    const bool is_unlimited = !scope.empty() && name.substr(scope.size()) == unlimited;
    return is_unlimited ? replacing_diff(trace, *decorator, {fmt::format("{}{}(maxsize={})", scope, method, limit)})
                        : std::string();
}

std::string freeze_diff(const Trace& trace) {
    constexpr std::string_view assignment = "requires_grad = False";
    const auto lines = lines_with(trace, assignment);
    if (lines.size() != 1 || !lines.front().text.ends_with("." + std::string(assignment))) {
        return {};
    }
    const std::string_view text = lines.front().text;
    return replacing_diff(trace, lines.front(), text.substr(text.size() - assignment.size()), "requires_grad_(False)");
}

std::string limit_queue_diff(const Trace& trace, const SourcePlace& place, int64_t limit) {
    constexpr std::string_view call = "Queue()";
    std::string code(code_of(place.text));
    const size_t at = code.find(call);
    const bool is_only = at != code.npos && code.find(call, at + 1) == code.npos;
    if (!is_only || (at > 0 && is_part_of_name(code[at - 1]))) {
        return {};
    }
    code.insert(at + call.size() - 1, fmt::format("maxsize={}", limit));
    return replacing_diff(trace, place, {std::move(code)});
}

std::string load_on_host_diff(const Trace& trace, StackId stack) {
    constexpr std::string_view call = "torch.load(", argument = "map_location";
    const auto line = source_place(trace, trace.stacks.site(stack));
    const size_t at = line ? line->text.find(call) : std::string_view::npos;
    if (at == std::string_view::npos || line->text.find(call, at + 1) != std::string_view::npos) {
        return {};
    }
    const size_t open = at + call.size() - 1;
    const std::string_view brackets = line->text.substr(open, length_of_brackets(line->text.substr(open)));
    if (brackets.size() < 3 || brackets.find(argument) != brackets.npos) {
        return {};
    }
    const std::string_view last = brackets.substr(brackets.size() - 1);
    return replacing_diff(trace, *line, last, ", map_location=\"cpu\")");
}

std::string detach_before_diff(const Trace& trace, StackId stack, std::string_view variable) {
    const FrameId site = trace.stacks.site(stack);
    const auto line = site == 0 ? std::nullopt : source_place(trace, site);
    const std::string assignment = fmt::format("{} = ", variable), of_tensor = assignment + "torch.";
    const auto lines = lines_with(trace, assignment);
    const auto is_other = [&](const SourcePlace& other) {
        return other.number != line->number && code_of(other.text).starts_with(of_tensor);
    };
    const bool is_safe = line && lines.size() == 2 && code_of(line->text).starts_with(assignment) &&
                         std::any_of(lines.begin(), lines.end(), is_other);
    return is_safe && is_whole_statement(trace, *line)
               ? inserting_diff_before(trace, *line, fmt::format("{0} = {0}.detach()", variable))
               : std::string();
}

std::optional<SourcePlace> backward_with_graph(const Trace& trace) {
    std::vector<SourcePlace> lines = lines_with(trace, "create_graph=True");
    std::erase_if(lines, [](const SourcePlace& line) { return line.text.find(".backward(") == line.text.npos; });
    return lines.size() == 1 ? std::optional(lines.front()) : std::nullopt;
}

std::string clear_gradients_diff(const Trace& trace) {
    const auto line = backward_with_graph(trace);
    const auto function = line ? function_around(trace, *line) : std::nullopt;
    for (const SourcePlace& other : function ? lines_of_block(trace, *function) : std::vector<SourcePlace>()) {
        if (const std::string_view parameters = parameters_of_gradients(other.text); !parameters.empty()) {
            return append_to_block_diff(trace, *function,
                                        fmt::format("for parameter in {}:\n    parameter.grad = None", parameters));
        }
    }
    return {};
}

std::string clear_function_diff(const Trace& trace, std::string_view function) {
    const auto definitions = definitions_of(trace, function);
    const auto outer = definitions.size() == 1 ? function_around(trace, definitions.front()) : std::nullopt;
    const std::vector<SourcePlace> lines = outer ? lines_of_block(trace, *outer) : std::vector<SourcePlace>();
    const std::string beginning = fmt::format("return {}(", function);
    if (lines.empty() || !code_of(lines.back().text).starts_with(beginning) ||
        !is_call(code_of(lines.back().text).substr(beginning.find(' ') + 1))) {
        return {};
    }
    const std::string_view call = code_of(lines.back().text).substr(beginning.find(' ') + 1);
    return replacing_diff(trace, lines.back(),
                          {fmt::format("result = {}", call), fmt::format("{} = None", function), "return result"});
}

std::string disable_gradients_diff(const AnalysisContext& context, StackId stack, std::string_view manager) {
    const FrameId caller = caller_of_modules(context.trace().stacks, stack);
    const std::optional<SourcePlace> place = source_place(context.trace(), caller);
    if (!place || !is_call_statement(code_of(place->text)) || !is_whole_statement(context.trace(), *place) ||
        is_backpropagated(context, caller)) {
        return {};
    }
    const std::string_view step = place->text.starts_with('\t') ? "\t"sv : "    "sv;
    return replacing_diff(context.trace(), *place,
                          {fmt::format("with {}:", manager), fmt::format("{}{}", step, code_of(place->text))});
}

std::string assigned_variable(const Trace& trace, StackId stack) {
    constexpr int32_t most_lines_before = 3;
    const FrameId frame = trace.stacks.site(stack);
    const std::optional<SourcePlace> place = frame == 0 ? std::nullopt : source_place(trace, frame);
    if (!place) {
        return {};
    }
    std::string_view target = target_of(code_of(place->text));
    for (int32_t before = 1; target.empty() && before <= most_lines_before; ++before) {
        const std::string* text = trace.source_text.line(place->file, place->number - before);
        target = text != nullptr && ends_with_bracket(*text) ? target_of(code_of(*text)) : target;
    }
    return std::string(target);
}

}  // namespace tidemark
