// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// What the recorded lines of the program show of its functions and calls, so that the code of a fix fits to them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "storage/trace/trace.h"

namespace tidemark {

/// Returns the recorded lines of the function around a line, as far as they adjoin it.
std::vector<SourceLine> lines_of_function(const SourceText& source, std::string_view file, int32_t line);

/// Returns whether a call in a function of the program on the stack passes a value for the argument: "f(x, name=y)".
bool passes_argument(const Trace& trace, StackId stack, std::string_view name);

/// Adds the place in the program to each line of the code that begins with a call or ends with the name of a method,
/// "Trainer(..., x=1)  # train.py:12" and "self.outputs.clear()  # last line of on_epoch_end(), train.py:30". Adds
/// nothing if no recorded line, or several, have the call or define the method.
std::string with_places(const Trace& trace, std::string_view code);

}  // namespace tidemark
