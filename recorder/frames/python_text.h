// The text of a Python string, read from memory.
#pragma once

#include <string>

#include "recorder/frames/layouts.h"

namespace tidemark::frames {

/// UTF-8, cut after 4096 characters; empty for what is no compact string.
std::string text_of(const Layout& layout, uint64_t string);

}  // namespace tidemark::frames
