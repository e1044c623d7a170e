// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/explain/suggested_change.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "storage/base/utf8.h"
#include "storage/explain/program_code.h"
#include "storage/explain/python_code.h"
#include "storage/trace/limits.h"
#include "storage/trace/stack_search.h"

namespace tidemark {
namespace {

using namespace python_code;
using namespace std::string_view_literals;

/// A line of the recorded source.
struct Place {
    std::string_view file;
    int32_t number = 0;
    const std::string* text = nullptr;
};

/// Returns whether this is one operand, to which a method call can be appended: "loss", "self.loss", "model(x)[0]".
/// Code with strings or comments is not parsed.
bool is_operand(std::string_view text) {
    if (text.empty() || !is_letter(text.front()) || text.find_first_of("#\"'\\\n") != text.npos) {
        return false;
    }
    size_t at = 0;
    while (at < text.size()) {
        const char c = text[at];
        const bool is_attribute = c == '.' && at + 1 < text.size() && is_letter(text[at + 1]);
        const size_t brackets = c == '(' || c == '[' ? length_of_brackets(text.substr(at)) : 0;
        if (brackets == 0 && !is_attribute && !is_letter(c) && !(is_digit(c) && is_letter(text.front()))) {
            return false;
        }
        at += std::max<size_t>(brackets, 1);
    }
    return true;
}

bool is_call(std::string_view text) { return is_operand(text) && text.ends_with(')'); }

bool is_without_graph(std::string_view code) {
    return code.find(".item()") != code.npos || code.find(".detach()") != code.npos;
}

std::optional<Place> place_of(const Trace& trace, FrameId id) {
    const Frame& frame = trace.stacks.frame(id);
    const std::string& file = trace.stacks.string(frame.file);
    const std::string* text = trace.source_text.line(file, frame.line);
    return text == nullptr || text->size() >= longest_source_line ? std::nullopt
                                                                  : std::optional(Place{file, frame.line, text});
}

/// Returns the file's name from the deepest folder that contains all files of the program: `patch` refuses absolute
/// names.
std::string_view name_in_program(const StackTable& stacks, std::string_view file) {
    std::string_view folder = file.substr(0, file.find_last_of("/\\") + 1);
    for (FrameId id = 0; id < stacks.frame_count(); ++id) {
        const std::string_view other = stacks.string(stacks.frame(id).file);
        if (stacks.role(id) == FrameRole::user && other.find_first_of("/\\") != other.npos) {
            const auto end = std::mismatch(folder.begin(), folder.end(), other.begin(), other.end()).first;
            folder = folder.substr(0, static_cast<size_t>(end - folder.begin()));
            folder = folder.substr(0, folder.find_last_of("/\\") + 1);
        }
    }
    return file.substr(folder.size());
}

/// Returns the diff that replaces the line's code by lines with the same indentation.
std::string diff_of(const Trace& trace, const Place& place, const std::vector<std::string>& lines) {
    if (visible_text(place.file) != place.file) {
        return {};  // a line break in the name would forge lines of the diff
    }
    const std::string_view name = name_in_program(trace.stacks, place.file);
    std::string text = fmt::format("--- {0}\n+++ {0}\n@@ -{1} +{1}{2} @@\n-{3}\n", name, place.number,
                                   lines.size() == 1 ? "" : fmt::format(",{}", lines.size()), *place.text);
    for (const std::string& line : lines) {
        text += fmt::format("+{}{}\n", indent_of(*place.text), line);
    }
    return text;
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

/// Returns the lines of the stack's functions whose code is `start` + a reference + `end`.
std::vector<Place> find_in_functions(const Trace& trace, StackId stack, std::string_view start, std::string_view end) {
    std::vector<Place> found;
    for (const FrameId id : trace.stacks.frames_of(stack)) {
        const std::string& file = trace.stacks.string(trace.stacks.frame(id).file);
        for (const SourceLine& line : lines_of_function(trace.source_text, file, trace.stacks.frame(id).line)) {
            const std::string* text = trace.source_text.line(file, line.number);
            const std::string_view code = code_of(*text);
            const bool is_seen =
                std::any_of(found.begin(), found.end(), [&](const Place& p) { return p.text == text; });
            if (!is_seen && code.size() > start.size() + end.size() && code.starts_with(start) && code.ends_with(end) &&
                is_operand(code.substr(start.size(), code.size() - start.size() - end.size()))) {
                found.push_back({file, line.number, text});
            }
        }
    }
    return found;
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

/// Returns whether the statement neither begins before the line nor continues after it. Code of the lines around it
/// that was not recorded may do either.
bool is_whole_statement(const SourceText& source, const Place& place) {
    constexpr std::string_view continued = "([{,\\+-*/%&|^<>=.@", continuing = ")]}.,+-*/%&|^<>=";
    const std::string* before = source.line(place.file, place.number - 1);
    const std::string* after = source.line(place.file, place.number + 1);
    const std::string_view next = after == nullptr ? "" : code_of(*after);
    return before != nullptr && (before->empty() || continued.find(before->back()) == continued.npos) &&
           (next.empty() || continuing.find(next.front()) == continuing.npos);
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
    const std::optional<Place> place = place_of(trace, trace.stacks.site(stack));
    if (!place) {
        return {};
    }
    const std::string_view code = code_of(*place->text);
    const size_t end = end_of_sum(code);
    const bool is_known = end != code.npos && is_operand(code.substr(end)) && !is_without_graph(code);
    return is_known ? diff_of(trace, *place, {fmt::format("{}.{}", code, value)}) : "";
}

std::string append_value_diff(const Trace& trace, StackId stack, std::string_view container) {
    const auto places = find_in_functions(trace, stack, fmt::format("{}.append(", container), ")");
    if (!is_operand(container) || places.size() != 1 || is_without_graph(*places.front().text)) {
        return {};
    }
    std::string_view code = code_of(*places.front().text);
    code.remove_suffix(1);
    return diff_of(trace, places.front(), {fmt::format("{}.detach().cpu())", code)});
}

std::string release_graph_diff(const Trace& trace) {
    constexpr std::string_view option = "retain_graph=True", call = ".backward(retain_graph=True)";
    std::vector<Place> found;
    for (const auto& [file, lines] : trace.source_text.files()) {
        for (const auto& [number, text] : lines) {
            if (text.find(option) != text.npos) {
                found.push_back({file, number, &text});
            }
        }
    }
    if (found.size() != 1 || !found.front().text->ends_with(call) ||
        found.front().text->find('#') != std::string::npos) {
        return {};
    }
    std::string code(code_of(*found.front().text));
    code.replace(code.size() - call.size(), call.size(), ".backward()");
    return diff_of(trace, found.front(), {std::move(code)});
}

std::string disable_gradients_diff(const AnalysisContext& context, StackId stack, std::string_view manager) {
    const FrameId caller = caller_of_modules(context.trace().stacks, stack);
    const std::optional<Place> place = place_of(context.trace(), caller);
    if (!place || !is_call_statement(code_of(*place->text)) ||
        !is_whole_statement(context.trace().source_text, *place) || is_backpropagated(context, caller)) {
        return {};
    }
    const std::string_view step = place->text->starts_with('\t') ? "\t"sv : "    "sv;
    return diff_of(context.trace(), *place,
                   {fmt::format("with {}:", manager), fmt::format("{}{}", step, code_of(*place->text))});
}

std::string assigned_variable(const Trace& trace, StackId stack) {
    constexpr int32_t most_lines_before = 3;
    const FrameId frame = trace.stacks.site(stack);
    const std::optional<Place> place = frame == 0 ? std::nullopt : place_of(trace, frame);
    if (!place) {
        return {};
    }
    std::string_view target = target_of(code_of(*place->text));
    for (int32_t before = 1; target.empty() && before <= most_lines_before; ++before) {
        const std::string* text = trace.source_text.line(place->file, place->number - before);
        target = text != nullptr && ends_with_bracket(*text) ? target_of(code_of(*text)) : target;
    }
    return std::string(target);
}

}  // namespace tidemark
