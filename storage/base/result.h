// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Errors are values. A function that can fail because of a file, a user or the machine returns Result<T> or Status. The
// caller passes the error on or reports it to the user, once.
#pragma once

#include <tl/expected.hpp>
#include <utility>

#include "storage/base/sentence.h"

namespace tidemark {

/// Who can fix the error. Determines the exit status (see storage/base/exit_status.h).
enum class ErrorKind {
    usage,        ///< the request itself is wrong: an argument, a name, a time point that does not exist
    input,        ///< the file cannot be used: wrong format, truncated, corrupt, too new
    environment,  ///< the environment causes the failure: missing file, permission, full disk
    canceled,     ///< the user stopped it
};

/// One sentence for the user that names the cause and, if there is one, the fix.
struct Error {
    ErrorKind kind;
    Sentence sentence;
};

/// usage_error("{path} is not a file.", with("path", path))
template <class... Values>
Error usage_error(Literal english, Values... values) {
    return {ErrorKind::usage, Sentence(english, std::move(values)...)};
}
template <class... Values>
Error input_error(Literal english, Values... values) {
    return {ErrorKind::input, Sentence(english, std::move(values)...)};
}
template <class... Values>
Error environment_error(Literal english, Values... values) {
    return {ErrorKind::environment, Sentence(english, std::move(values)...)};
}
inline Error canceled_error() { return {ErrorKind::canceled, Sentence("Canceled.")}; }

/// A tl::expected that must not be ignored. An Error converts to it: `return usage_error(...)`.
template <class T>
class [[nodiscard]] Result : public tl::expected<T, Error> {
public:
    using tl::expected<T, Error>::expected;
    Result(Error error) : tl::expected<T, Error>(tl::unexpect, std::move(error)) {}
};

using Status = Result<void>;

}  // namespace tidemark

/// Returns the error of a Status or Result expression to the caller.
#define TIDEMARK_TRY(expression)                                 \
    do {                                                         \
        if (auto tidemark_try_ = (expression); !tidemark_try_) { \
            return tidemark_try_.error();                        \
        }                                                        \
    } while (false)
