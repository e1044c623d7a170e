// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The handler of the program that got an exception, for fixes of stored exceptions.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "storage/explain/source_change.h"

namespace tidemark {

struct ExceptionHandler {
    SourcePlace place;      ///< "except ValueError as error:"
    std::string_view name;  ///< "error"
};

/// Returns the handler with a name of the `try` blocks in which the functions of the stack ran: the stack allocated
/// what the exception retains. Returns nothing if there is none, or several, or if it was not recorded.
std::optional<ExceptionHandler> handler_around(const Trace& trace, StackId stack);

/// Returns the diff that removes the traceback at the end of the handler; "" if the handler has another end.
std::string remove_traceback_diff(const Trace& trace, const ExceptionHandler& handler);

}  // namespace tidemark
