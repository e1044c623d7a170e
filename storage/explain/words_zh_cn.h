// The catalogue of Simplified Chinese sentences.
#pragma once

#include <span>
#include <string_view>

namespace tidemark {

/// Both with the same {names}.
struct Translation {
    std::string_view english, translated;
};

std::span<const Translation> chinese_table();

}  // namespace tidemark
