// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/explain/stored_copies.h"

#include <fmt/format.h>

#include <algorithm>

#include "storage/explain/python_code.h"
#include "storage/explain/value_parts.h"

namespace tidemark {
namespace {

using namespace python_code;

/// The value in a line that stores something, and the number of brackets between the container and it.
struct StoredValue {
    std::string_view value;
    size_t depth = 0;
};

/// Returns the argument of a call that stores one value: of `append(x)`, `insert(0, x)`, `setdefault(key, x)`.
std::string_view stored_argument(std::string_view call) {
    const size_t open = call.find('(');
    const size_t length = open == call.npos ? 0 : length_of_brackets(call.substr(open));
    if (length == 0) {
        return {};
    }
    const auto arguments = split_arguments(call.substr(open + 1, length - 2));
    const std::string_view method = call.substr(0, open);
    const size_t position = method == ".insert" || method == ".setdefault" ? 1 : 0;
    const bool has_one = method != ".extend" && arguments.size() > position &&
                         (position == 1 || arguments.size() == 1 || method.starts_with(".put"));
    return has_one ? arguments[position] : std::string_view();
}

/// Returns the value of a line that stores; an empty one for code of another form.
StoredValue stored_value(const ContainerLine& line) {
    constexpr std::string_view assignment = " = ";
    std::string_view behind = line.place.text.substr(line.end);
    size_t brackets = 0;
    while (behind.starts_with('[')) {
        const size_t length = length_of_brackets(behind);
        if (length == 0) {
            return {};
        }
        behind.remove_prefix(length);
        ++brackets;
    }
    if (!behind.starts_with(assignment)) {
        return {stored_argument(behind), brackets + 1};
    }
    const auto values = split_arguments(behind.substr(assignment.size()));
    return {values.size() == 1 ? values.front() : std::string_view(), brackets};
}

/// Returns the parts of the container's elements that are tensors, as the scans found them. `element`: position of the
/// innermost link into the container.
std::vector<ValuePart> parts_of_elements(const AnalysisContext& context, const FilledContainer& container,
                                         size_t element) {
    return parts_behind(context, container.path.first(std::min(container.end, container.path.size())), element + 1);
}

}  // namespace

std::optional<StoringLine> storing_line(const AnalysisContext& context, const FilledContainer& container,
                                        GpuLibrary library) {
    const GraphTables& tables = context.graph()->tables();
    const auto names = container_of(tables, container.path.first(std::min(container.end, container.path.size())));
    const auto lines = names ? lines_that_store(context.trace(), *names) : std::vector<ContainerLine>();
    if (lines.size() != 1) {
        return std::nullopt;
    }
    const StoredValue stored = stored_value(lines.front());
    StoringLine line{lines.front().place, stored.value, {}, {}};
    if (stored.value.empty() || stored.depth == 0) {
        return line;
    }
    const std::vector<ValuePart> parts = parts_of_elements(context, container, container.element + stored.depth - 1);
    for (const ValuePart& part : parts) {
        line.parts.push_back(name_of_part(tables, stored.value, part));
    }
    if (const auto copied = with_copies(stored.value, tables, parts, library)) {
        line.diff = replacing_diff(context.trace(), line.place, stored.value, *copied);
    }
    return line;
}

}  // namespace tidemark
