// Errors are values. A function that can fail for a reason a file, a user or the machine can cause
// returns Result<T> (or Status); the caller passes it on or reports it to the user, once.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace tidemark {

/// Who has to act. The command's exit status is derived from it (see storage/base/exit_status.h).
enum class ErrorKind {
    usage,        ///< the request itself is wrong: an argument, a name, a time point that does not exist
    input,        ///< the file is not what it should be: foreign, truncated, corrupt, too new
    environment,  ///< the machine says no: missing file, permission, full disk
    canceled,     ///< the user stopped it
};

/// One clear sentence for the user that names the cause and, where there is one, the fix.
struct Error {
    ErrorKind kind = ErrorKind::input;
    std::string message;
};

inline Error usage_error(std::string message) { return {ErrorKind::usage, std::move(message)}; }
inline Error input_error(std::string message) { return {ErrorKind::input, std::move(message)}; }
inline Error environment_error(std::string message) { return {ErrorKind::environment, std::move(message)}; }
inline Error canceled_error() { return {ErrorKind::canceled, "Cancelled."}; }

template <class T>
class [[nodiscard]] Result {
public:
    Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
    Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

    explicit operator bool() const { return state_.index() == 0; }
    T& operator*() & { return std::get<0>(state_); }
    const T& operator*() const& { return std::get<0>(state_); }
    T&& operator*() && { return std::get<0>(std::move(state_)); }
    T* operator->() { return &std::get<0>(state_); }
    const T* operator->() const { return &std::get<0>(state_); }
    const Error& error() const { return std::get<1>(state_); }

private:
    std::variant<T, Error> state_;
};

class [[nodiscard]] Status {
public:
    Status() = default;
    Status(Error error) : error_(std::move(error)) {}

    explicit operator bool() const { return !error_; }
    const Error& error() const { return *error_; }

private:
    std::optional<Error> error_;
};

}  // namespace tidemark

/// Hands the error of a Status or Result expression to the caller.
#define TIDEMARK_TRY(expression)                                 \
    do {                                                         \
        if (auto tidemark_try_ = (expression); !tidemark_try_) { \
            return tidemark_try_.error();                        \
        }                                                        \
    } while (false)
