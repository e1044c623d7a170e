// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/cli/parse_errors.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

namespace tidemark::cli {
namespace {

/// A text of CLI11: `before`, a first value, `between`, a second value, `after`. CLI11's errors have no other data than
/// their text.
struct Form {
    std::string_view before, between, after;
    Sentence (*sentence)(std::string_view first, std::string_view second);
};

Sentence unexpected(std::string_view, std::string_view arguments) {
    return Sentence("Unexpected arguments: {arguments}.", with("arguments", arguments));
}

/// The first form that fits counts.
constexpr Form forms[] = {
    {"A subcommand", "", " is required",
     [](std::string_view, std::string_view) { return Sentence("A command is required."); }},
    {"", "", " is required",
     [](std::string_view, std::string_view option) {
         return Sentence("{option} is required.", with("option", option));
     }},
    {"", ": 1 required ", " missing",
     [](std::string_view option, std::string_view) {
         return Sentence("{option} needs a value.", with("option", option));
     }},
    {"", ": At Most 1 required but received ", "",
     [](std::string_view option, std::string_view) {
         return Sentence("{option} is given more than once.", with("option", option));
     }},
    {"Could not convert: ", " = ", "",
     [](std::string_view option, std::string_view value) {
         return Sentence("{option}: \"{value}\" is not a valid value.", with("option", option), with("value", value));
     }},
    {"", " not in {", "}",
     [](std::string_view value, std::string_view values) {
         return Sentence("{value} is not one of {values}.", with("value", value), with("values", values));
     }},
    {"", " excludes ", "",
     [](std::string_view option, std::string_view other) {
         return Sentence("{option} excludes {other}.", with("option", option), with("other", other));
     }},
    {"The following argument was not expected: ", "", "", unexpected},
    {"The following arguments were not expected: ", "", "", unexpected},
    {"--", ": ", "",
     [](std::string_view option, std::string_view problem) {
         return Sentence("--{option}: {problem}", with("option", option), with("problem", problem));
     }},
};

std::optional<Sentence> sentence_of(const Form& form, std::string_view text) {
    if (!text.starts_with(form.before) || !text.ends_with(form.after) ||
        text.size() < form.before.size() + form.after.size()) {
        return std::nullopt;
    }
    text.remove_prefix(form.before.size());
    text.remove_suffix(form.after.size());
    const size_t between = text.find(form.between);
    if (between == text.npos) {
        return std::nullopt;
    }
    return form.sentence(text.substr(0, between), text.substr(between + form.between.size()));
}

/// Returns the number of letters to insert, delete or replace to make one word the other.
size_t edits_between(std::string_view a, std::string_view b) {
    std::vector<size_t> edits(b.size() + 1);  // from the letters of `a` so far to each beginning of `b`
    std::iota(edits.begin(), edits.end(), 0);
    for (size_t i = 0; i < a.size(); ++i) {
        size_t before = std::exchange(edits[0], i + 1);
        for (size_t j = 0; j < b.size(); ++j) {
            const size_t replaced = before + (a[i] == b[j] ? 0 : 1);
            before = edits[j + 1];
            edits[j + 1] = std::min({replaced, before + 1, edits[j] + 1});
        }
    }
    return edits.back();
}

}  // namespace

SentenceValue parse_error_sentence(const std::string& text) {
    for (const Form& form : forms) {
        if (auto sentence = sentence_of(form, text)) {
            return *std::move(sentence);
        }
    }
    return text;
}

Sentence unknown_command_sentence(const std::string& word, const std::vector<std::string>& commands) {
    constexpr size_t most_edits = 2;
    const auto edits = [&](const std::string& command) { return edits_between(word, command); };
    const auto nearest = std::min_element(commands.begin(), commands.end(),
                                          [&](const auto& a, const auto& b) { return edits(a) < edits(b); });
    return nearest != commands.end() && edits(*nearest) <= most_edits
               ? Sentence("There is no command {word}; there is {command}.", with("word", word),
                          with("command", *nearest))
               : Sentence("There is no command {word}.", with("word", word));
}

}  // namespace tidemark::cli
