// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/explain/exception_fixes.h"

#include <fmt/format.h>

#include "storage/explain/exception_handler.h"
#include "storage/explain/python_code.h"

namespace tidemark {
namespace {

/// Returns the code that stores something else where the exception is stored.
std::string code_to_store(const StoredException& stored, std::string_view value) {
    const std::string name = stored.expression.empty() ? "failed" : stored.expression;
    return stored.element == PathLinkKind::unknown ? fmt::format("{} = {}", name, value)
           : stored.element == PathLinkKind::item  ? fmt::format("{}[key] = {}", name, value)
                                                   : fmt::format("{}.append({})", name, value);
}

}  // namespace

std::optional<Fix> fix_of_handler(const Trace& trace, const RetainedByExceptions& retained, const Words& words) {
    const auto handler = handler_around(trace, retained.stack);
    if (!handler) {
        return std::nullopt;
    }
    return Fix{words("Remove the traceback when the exception was handled: {place}, `{code}`.",
                     with("place", name_of(handler->place)),
                     with("code", std::string(python_code::code_of(handler->place.text)))),
               fmt::format("{}.__traceback__ = None", handler->name), retained.bytes, retained.per_iteration,
               remove_traceback_diff(trace, *handler)};
}

std::vector<Fix> fixes_of_stored_exceptions(const Trace& trace, const StoredException& stored,
                                            const RetainedByExceptions& retained, const Words& words) {
    if (std::optional<Fix> fix = fix_of_handler(trace, retained, words)) {
        const std::string name(handler_around(trace, retained.stack)->name);
        return {std::move(*fix),
                {words("Or store only the text of the message, `{text}`, in place of `{name}`.",
                       with("text", fmt::format("str({})", name)), with("name", name)),
                 "", retained.bytes, retained.per_iteration}};
    }
    return {{words("Store only the text of the message."), code_to_store(stored, "str(error)"), retained.bytes,
             retained.per_iteration},
            {words("Or remove the traceback before the exception is stored."),
             code_to_store(stored, "error.with_traceback(None)"), retained.bytes, retained.per_iteration}};
}

}  // namespace tidemark
