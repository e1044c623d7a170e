// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/explain/growth/end_of_container.h"

#include "storage/explain/container_lines.h"
#include "storage/explain/growth/container_fixes.h"
#include "storage/explain/program_blocks.h"
#include "storage/explain/python_code.h"

namespace tidemark {
namespace {

/// Returns the only line that makes the variable anew in a loop of its function; nothing if there is none.
std::optional<SourcePlace> line_in_loop(const Trace& trace, const Container& variable) {
    const std::vector<ContainerLine> lines = lines_that_assign(trace, variable);
    return lines.size() == 1 && loop_around(trace, lines.front().place) ? std::optional(lines.front().place)
                                                                        : std::nullopt;
}

/// Returns whether the stack shows that a loop calls the function again and again: one call of a program may last until
/// its end.
bool is_called_in_loop(const Trace& trace, StackId stack, std::string_view function) {
    const std::vector<FrameId> frames = trace.stacks.frames_of(stack);
    for (size_t i = 0; i + 1 < frames.size(); ++i) {
        const auto caller = source_place(trace, frames[i + 1]);
        if (trace.stacks.string(trace.stacks.frame(frames[i]).function) == function && caller &&
            loop_around(trace, *caller)) {
            return true;
        }
    }
    return false;
}

}  // namespace

void add_end_of_container(Finding& finding, const AnalysisContext& context, const LeakSuspect& suspect,
                          const Words& words) {
    const auto filled = filled_container(suspect);
    const GraphTables& tables = context.graph()->tables();
    if (!filled || filled->end != 1 || filled->path.front().kind != PathLinkKind::local) {
        return;
    }
    const auto variable = container_of(tables, filled->path.first(1));
    if (!variable) {
        return;
    }
    const auto name = with("name", "`" + std::string(variable->name) + "`");
    if (const auto line = line_in_loop(context.trace(), *variable)) {
        finding.ends_with_variable = true;
        finding.text.push_back(words("{place} makes {name} anew: `{code}`. What it retained until then is freed.",
                                     with("place", name_of(*line)), name,
                                     with("code", std::string(python_code::code_of(line->text)))));
    } else if (is_called_in_loop(context.trace(), finding.stack, variable->function)) {
        finding.ends_with_variable = true;
        finding.text.push_back(
            words("{name} is a variable of {function}: what it retains is freed when this function "
                  "returns.",
                  name, with("function", std::string(variable->function))));
    }
}

}  // namespace tidemark
