// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/explain/storing_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>
#include <string_view>

#include "storage/explain/container_lines.h"
#include "storage/explain/python_code.h"
#include "storage/text/referrer_words.h"

namespace tidemark {
namespace {

using namespace python_code;

/// Returns the name in the brackets behind the container's name; "" if it has none, or other code in them.
std::string_view name_in_brackets(std::string_view code, std::string_view container) {
    const size_t begin = code.find(fmt::format("{}[", container));
    if (begin == code.npos) {
        return {};
    }
    const std::string_view behind = code.substr(begin + container.size() + 1);
    const std::string_view name = behind.substr(0, behind.find(']'));
    const bool is_name = !name.empty() && is_letter(name.front()) && behind.size() > name.size() &&
                         std::all_of(name.begin(), name.end(), [](char c) { return is_part_of_name(c) || c == '.'; });
    return is_name ? name : std::string_view();
}

bool is_site(const Trace& trace, const Finding& finding, const SourcePlace& line) {
    const FrameId site = trace.stacks.site(finding.stack);
    return site != 0 && source_place(trace, site) == line;
}

/// Returns the container to which the first links lead.
std::optional<Container> container_at(const AnalysisContext& context, const std::vector<PathLink>& path, size_t end) {
    return container_of(context.graph()->tables(), std::span(path).first(end));
}

}  // namespace

void add_storing_line(Finding& finding, const AnalysisContext& context, const std::vector<PathLink>& path, size_t end,
                      const Words& words) {
    const Trace& trace = context.trace();
    const auto container = end < path.size() ? container_at(context, path, end) : std::nullopt;
    const std::vector<ContainerLine> storing =
        container ? lines_that_store(trace, *container) : std::vector<ContainerLine>();
    if (storing.size() != 1) {
        return;
    }
    const auto place = [](const ContainerLine& line) { return with("place", name_of(line.place)); };
    const auto code = [](const ContainerLine& line) { return with("code", std::string(code_of(line.place.text))); };
    if (!is_site(trace, finding, storing[0].place)) {
        finding.text.push_back(words("{place} stores them: `{code}`.", place(storing[0]), code(storing[0])));
    }
    const std::vector<ContainerLine> removing = lines_that_remove(trace, *container);
    if (!removing.empty()) {
        finding.text.push_back(
            words("{place} removes from it: `{code}`. Check when that line runs, and whether there is a limit that was "
                  "not reached yet.",
                  place(removing[0]), code(removing[0])));
    }
}

std::string key_in_program(const AnalysisContext& context, const std::vector<PathLink>& path) {
    const auto container = container_at(context, path, container_end(path));
    const std::vector<ContainerLine> storing =
        container ? lines_that_store(context.trace(), *container) : std::vector<ContainerLine>();
    return storing.size() == 1 ? std::string(name_in_brackets(storing[0].place.text, container->name)) : std::string();
}

}  // namespace tidemark
