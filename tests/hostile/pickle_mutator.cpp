// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "tests/hostile/dice.h"
#include "tests/hostile/trace_mutator.h"

namespace tidemark::hostile {

namespace {

struct Opcode {
    size_t at = 0, argument = 0, end = 0;  ///< argument: without the length that precedes a text
};

uint64_t little_endian(std::span<const uint8_t> bytes) {
    uint64_t value = 0;
    for (size_t i = bytes.size(); i > 0; --i) {
        value = value << 8 | bytes[i - 1];
    }
    return value;
}

/// How an opcode's argument ends.
struct Form {
    size_t fixed = 0;         ///< bytes
    size_t length_bytes = 0;  ///< of the length of a text
    int lines = 0;            ///< terminated by line feeds
};

Form form_of(uint8_t code) {
    switch (code) {
        case 'K':
        case 'q':
        case 'h':
        case 0x80:
        case 0x82: return {1, 0, 0};
        case 'M':
        case 0x83: return {2, 0, 0};
        case 'J':
        case 'r':
        case 'j':
        case 0x84: return {4, 0, 0};
        case 'G':
        case 0x95: return {8, 0, 0};
        case 0x8c:
        case 'U':
        case 'C':
        case 0x8a: return {0, 1, 0};
        case 'X':
        case 'B':
        case 'T':
        case 0x8b: return {0, 4, 0};
        case 0x8d:
        case 0x8e:
        case 0x96: return {0, 8, 0};
        case 'I':
        case 'L':
        case 'F':
        case 'V':
        case 'S':
        case 'P':
        case 'p':
        case 'g': return {0, 0, 1};
        case 'c':
        case 'i': return {0, 0, 2};
        default: return {};
    }
}

std::optional<Opcode> opcode_at(std::span<const uint8_t> pickle, size_t at) {
    const Form form = form_of(pickle[at]);
    Opcode opcode{at, at + 1 + form.length_bytes, at + 1 + form.length_bytes + form.fixed};
    if (form.length_bytes > 0 && opcode.end <= pickle.size()) {
        const uint64_t length = little_endian(pickle.subspan(at + 1, form.length_bytes));
        if (length > pickle.size()) {
            return std::nullopt;
        }
        opcode.end += length;
    }
    for (int line = 0; line < form.lines; ++line) {
        while (opcode.end < pickle.size() && pickle[opcode.end] != '\n') {
            ++opcode.end;
        }
        ++opcode.end;
    }
    return opcode.end <= pickle.size() ? std::optional(opcode) : std::nullopt;
}

std::vector<Opcode> opcodes_of(std::span<const uint8_t> pickle) {
    std::vector<Opcode> opcodes;
    for (size_t at = 0; at < pickle.size();) {
        const auto opcode = opcode_at(pickle, at);
        if (!opcode) {
            break;
        }
        opcodes.push_back(*opcode);
        at = opcode->end;
    }
    return opcodes;
}

ptrdiff_t offset(size_t at) { return static_cast<ptrdiff_t>(at); }

/// Frames only announce how much follows. Without them, lengths may change.
Bytes without_frames(std::span<const uint8_t> pickle) {
    Bytes result;
    for (const Opcode& opcode : opcodes_of(pickle)) {
        if (pickle[opcode.at] != 0x95) {
            result.insert(result.end(), pickle.begin() + offset(opcode.at), pickle.begin() + offset(opcode.end));
        }
    }
    return result;
}

Bytes integer_opcode(int64_t value) {
    Bytes code{0x8a, 8};
    for (int byte = 0; byte < 8; ++byte) {
        code.push_back(static_cast<uint8_t>(static_cast<uint64_t>(value) >> (8 * byte)));
    }
    return code;
}

Bytes text_opcode(Dice& dice) {
    const std::string text =
        dice.pick<std::string>({"", std::string(100'000, 'x'), "\x1b[31m", "\u202egnp", "\xff\xfe\x80", "a\nb", "size",
                                "addr", "segment_alloc", "device_traces", "time_us"});
    Bytes code{'X'};
    for (int byte = 0; byte < 4; ++byte) {
        code.push_back(static_cast<uint8_t>(text.size() >> (8 * byte)));
    }
    code.insert(code.end(), text.begin(), text.end());
    return code;
}

bool is_integer(uint8_t code) { return code == 'K' || code == 'M' || code == 'J' || code == 0x8a; }
bool is_text(uint8_t code) { return code == 0x8c || code == 'X'; }
bool is_memo(uint8_t code) { return code == 'h' || code == 'j'; }

void replace(Bytes& pickle, const Opcode& opcode, const Bytes& by) {
    pickle.erase(pickle.begin() + offset(opcode.at), pickle.begin() + offset(opcode.end));
    pickle.insert(pickle.begin() + offset(opcode.at), by.begin(), by.end());
}

template <class Test>
std::optional<Opcode> pick_opcode(const Bytes& pickle, Dice& dice, Test test) {
    std::vector<Opcode> found = opcodes_of(pickle);
    std::erase_if(found, [&](const Opcode& opcode) { return !test(pickle[opcode.at]); });
    return found.empty() ? std::nullopt : std::optional(found[dice.below(found.size())]);
}

std::string change_integer(Bytes& pickle, Dice& dice) {
    const auto opcode = pick_opcode(pickle, dice, is_integer);
    if (!opcode) {
        return {};
    }
    const auto argument =
        std::span(pickle).subspan(opcode->argument, std::min<size_t>(opcode->end - opcode->argument, 8));
    const int64_t value = dice.extreme(static_cast<int64_t>(little_endian(argument)));
    replace(pickle, *opcode, integer_opcode(value));
    return fmt::format("integer at {} = {}", opcode->at, value);
}

std::string change_text(Bytes& pickle, Dice& dice) {
    const auto opcode = pick_opcode(pickle, dice, is_text);
    if (!opcode) {
        return {};
    }
    replace(pickle, *opcode, text_opcode(dice));
    return fmt::format("text at {}", opcode->at);
}

std::string change_memo(Bytes& pickle, Dice& dice) {
    const auto opcode = pick_opcode(pickle, dice, is_memo);
    if (!opcode) {
        return {};
    }
    pickle[opcode->at + 1] = static_cast<uint8_t>(dice.bits());
    return fmt::format("memo at {} = {}", opcode->at, pickle[opcode->at + 1]);
}

std::string move_span(Bytes& pickle, Dice& dice) {
    const std::vector<Opcode> opcodes = opcodes_of(pickle);
    if (opcodes.size() < 2) {
        return {};
    }
    const size_t first = dice.below(opcodes.size() - 1);
    const size_t last = std::min(first + dice.below(dice.pick({2, 20, 2000})), opcodes.size() - 1);
    const auto begin = pickle.begin() + offset(opcodes[first].at), end = pickle.begin() + offset(opcodes[last].end);
    if (dice.one_in(2)) {
        pickle.erase(begin, end);
        return fmt::format("opcodes {} to {} removed", first, last);
    }
    const Bytes copy(begin, end);
    const size_t to = opcodes[dice.below(opcodes.size())].at;
    for (int times = dice.pick({1, 1, 5}); times > 0; --times) {
        pickle.insert(pickle.begin() + offset(to), copy.begin(), copy.end());
    }
    return fmt::format("opcodes {} to {} again at {}", first, last, to);
}

std::string change_opcode(Bytes& pickle, Dice& dice) {
    const auto opcode = pick_opcode(pickle, dice, [](uint8_t) { return true; });
    if (!opcode) {
        return {};
    }
    constexpr uint8_t codes[] = {'(',  '.',  '0',  '1',  '2',  'N',  'Q',  'R',  'a',  'b', 'c',
                                 'd',  'e',  'l',  'o',  's',  't',  '}',  ']',  ')',  'u', 0x81,
                                 0x85, 0x86, 0x87, 0x88, 0x89, 0x8f, 0x90, 0x91, 0x93, 0x94};
    pickle[opcode->at] = dice.pick(codes);
    return fmt::format("opcode at {} = {:#x}", opcode->at, pickle[opcode->at]);
}

/// A list in a list in a list: recursion without a bound ends in the stack.
std::string nest(Bytes& pickle, Dice& dice) {
    const auto opcode = pick_opcode(pickle, dice, is_integer);
    if (!opcode) {
        return {};
    }
    const auto depth = static_cast<size_t>(dice.pick({100, 100'000}));
    Bytes lists(depth, ']');
    lists.insert(lists.end(), depth - 1, 'a');
    replace(pickle, *opcode, lists);
    return fmt::format("{} nested lists at {}", depth, opcode->at);
}

using Change = std::string (*)(Bytes&, Dice&);
constexpr Change changes[] = {change_integer, change_integer, change_integer, change_integer, change_text, change_text,
                              change_memo,    move_span,      move_span,      change_opcode,  nest};

}  // namespace

Mutant mutate_pickle(std::span<const uint8_t> pickle, uint64_t seed, uint64_t most) {
    Dice dice(seed);
    Mutant mutant{without_frames(pickle), {}};
    const uint64_t count = std::min(1 + dice.below(4), most);
    for (uint64_t i = 0; i < count; ++i) {
        const std::string change = dice.pick(changes)(mutant.bytes, dice);
        mutant.changes += (mutant.changes.empty() || change.empty() ? "" : "; ") + change;
    }
    return mutant;
}

}  // namespace tidemark::hostile
