#include "storage/import/pickle_text.h"

#include <algorithm>
#include <charconv>

namespace tidemark {
namespace {

constexpr std::string_view replacement = "\xef\xbf\xbd";

/// Takes `digits` hexadecimal digits from the front of `rest`.
std::optional<uint32_t> take_hex(std::string_view& rest, size_t digits) {
    uint32_t number = 0;
    const char* end = rest.data() + digits;
    if (rest.size() < digits) {
        return {};
    }
    const auto [at, error] = std::from_chars(rest.data(), end, number, 16);
    if (error != std::errc{} || at != end || number > 0x10ffff) {
        return {};
    }
    rest.remove_prefix(digits);
    return number;
}

char simple_escape(char letter) {
    switch (letter) {
        case 'n': return '\n';
        case 't': return '\t';
        case 'r': return '\r';
        default: return letter;
    }
}

struct Sequence {
    size_t length;
    uint32_t first_bits;
    uint32_t least;  ///< smaller code points must be written shorter
};

std::optional<Sequence> sequence_of(uint8_t lead) {
    if (lead < 0x80) {
        return Sequence{1, lead, 0};
    }
    if ((lead & 0xe0) == 0xc0) {
        return Sequence{2, lead & 0x1fu, 0x80};
    }
    if ((lead & 0xf0) == 0xe0) {
        return Sequence{3, lead & 0x0fu, 0x800};
    }
    if ((lead & 0xf8) == 0xf0) {
        return Sequence{4, lead & 0x07u, 0x10000};
    }
    return {};
}

/// The length of the valid character at the front; 0 where there is none.
size_t valid_character(std::string_view rest) {
    const auto sequence = sequence_of(static_cast<uint8_t>(rest[0]));
    if (!sequence || rest.size() < sequence->length) {
        return 0;
    }
    uint32_t code_point = sequence->first_bits;
    for (size_t i = 1; i < sequence->length; ++i) {
        const auto byte = static_cast<uint8_t>(rest[i]);
        if ((byte & 0xc0) != 0x80) {
            return 0;
        }
        code_point = (code_point << 6) | (byte & 0x3fu);
    }
    const bool surrogate = code_point >= 0xd800 && code_point < 0xe000;
    return code_point < sequence->least || code_point > 0x10ffff || surrogate ? 0 : sequence->length;
}

}  // namespace

void append_utf8(std::string& text, uint32_t code_point) {
    const auto put = [&text](uint32_t byte) { text.push_back(static_cast<char>(byte)); };
    const auto tail = [&](int shift) { put(0x80 | ((code_point >> shift) & 0x3f)); };
    if (code_point < 0x80) {
        put(code_point);
    } else if (code_point < 0x800) {
        put(0xc0 | (code_point >> 6)), tail(0);
    } else if (code_point < 0x10000) {
        put(0xe0 | (code_point >> 12)), tail(6), tail(0);
    } else {
        put(0xf0 | (code_point >> 18)), tail(12), tail(6), tail(0);
    }
}

std::optional<std::string> decode_raw_unicode(std::string_view line) {
    std::string text;
    while (!line.empty()) {
        const auto byte = static_cast<uint8_t>(line.front());
        const char kind = byte == '\\' && line.size() > 1 ? line[1] : '\0';
        if (kind != 'u' && kind != 'U') {
            append_utf8(text, byte);
            line.remove_prefix(1);
            continue;
        }
        line.remove_prefix(2);
        const auto code_point = take_hex(line, kind == 'u' ? 4 : 8);
        if (!code_point) {
            return {};
        }
        append_utf8(text, *code_point);
    }
    return text;
}

std::optional<std::string> decode_quoted(std::string_view line) {
    if (line.size() < 2 || line.front() != line.back() || (line.front() != '\'' && line.front() != '"')) {
        return {};
    }
    line = line.substr(1, line.size() - 2);
    std::string text;
    while (!line.empty()) {
        const auto byte = static_cast<uint8_t>(line.front());
        line.remove_prefix(1);
        if (byte != '\\') {
            append_utf8(text, byte);
            continue;
        }
        if (line.empty()) {
            return {};
        }
        const char letter = line.front();
        line.remove_prefix(1);
        if (letter != 'x') {
            text.push_back(simple_escape(letter));
            continue;
        }
        const auto code_point = take_hex(line, 2);
        if (!code_point) {
            return {};
        }
        append_utf8(text, *code_point);
    }
    return text;
}

std::string valid_utf8(std::string_view bytes) {
    std::string text;
    text.reserve(bytes.size());
    while (!bytes.empty()) {
        const size_t length = valid_character(bytes);
        text += length ? bytes.substr(0, length) : replacement;
        bytes.remove_prefix(length ? length : 1);
    }
    return text;
}

std::string printable(std::string_view text) {
    constexpr size_t longest = 80;
    std::string shown(text.substr(0, longest));
    std::replace_if(
        shown.begin(), shown.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
    return text.size() > longest ? shown + "..." : shown;
}

}  // namespace tidemark
