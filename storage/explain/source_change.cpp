// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/explain/source_change.h"

#include <fmt/format.h>

#include <algorithm>

#include "storage/base/utf8.h"
#include "storage/explain/python_code.h"
#include "storage/trace/base_name.h"
#include "storage/trace/limits.h"

namespace tidemark {
namespace {

/// Returns the file's name from the deepest folder that contains all files of the program: `patch` refuses absolute
/// names.
std::string_view name_in_program(const StackTable& stacks, std::string_view file) {
    std::string_view folder = file.substr(0, file.find_last_of("/\\") + 1);
    for (FrameId id = 0; id < stacks.frame_count(); ++id) {
        const std::string_view other = stacks.string(stacks.frame(id).file);
        if (stacks.role(id) == FrameRole::user && other.find_first_of("/\\") != other.npos) {
            const auto end = std::mismatch(folder.begin(), folder.end(), other.begin(), other.end()).first;
            folder = folder.substr(0, static_cast<size_t>(end - folder.begin()));
            folder = folder.substr(0, folder.find_last_of("/\\") + 1);
        }
    }
    return file.substr(folder.size());
}

/// Returns the diff that replaces one line by these, which begin with "+". Without lines around it, `patch` would take
/// a line that stays for the first or last one of the file, so this one is always removed.
std::string diff_of(const Trace& trace, const SourcePlace& place, const std::vector<std::string>& added) {
    if (visible_text(place.file) != place.file) {
        return {};
    }
    std::string text =
        fmt::format("--- {0}\n+++ {0}\n@@ -{1} +{1}{2} @@\n-{3}\n", name_in_program(trace.stacks, place.file),
                    place.number, added.size() == 1 ? "" : fmt::format(",{}", added.size()), place.text);
    for (const std::string& line : added) {
        text += line + "\n";
    }
    return text;
}

std::string added_line(const SourcePlace& place, std::string_view code) {
    return fmt::format("+{}{}", python_code::indent_of(place.text), code);
}

std::vector<std::string> added_lines(const SourcePlace& like, std::string_view code) {
    std::vector<std::string> lines;
    for (size_t begin = 0; begin < code.size();) {
        const size_t end = std::min(code.find('\n', begin), code.size());
        lines.push_back(added_line(like, code.substr(begin, end - begin)));
        begin = end + 1;
    }
    return lines;
}

}  // namespace

std::optional<SourcePlace> source_place(const Trace& trace, std::string_view file, int32_t number) {
    const std::string* text = trace.source_text.line(file, number);
    return text == nullptr || text->size() >= longest_source_line ? std::nullopt
                                                                  : std::optional(SourcePlace{file, number, *text});
}

std::optional<SourcePlace> source_place(const Trace& trace, FrameId frame) {
    const Frame& of = trace.stacks.frame(frame);
    return source_place(trace, trace.stacks.string(of.file), of.line);
}

std::string name_of(const SourcePlace& place) { return fmt::format("{}:{}", base_name(place.file), place.number); }

std::string replacing_diff(const Trace& trace, const SourcePlace& place, const std::vector<std::string>& lines) {
    std::vector<std::string> changed;
    changed.reserve(lines.size());
    for (const std::string& line : lines) {
        changed.push_back(added_line(place, line));
    }
    return diff_of(trace, place, changed);
}

std::string replacing_diff(const Trace& trace, const SourcePlace& place, std::string_view part,
                           std::string_view replacement) {
    std::string text(place.text);
    text.replace(static_cast<size_t>(part.data() - place.text.data()), part.size(), replacement);
    return replacing_diff(trace, place, {text.substr(python_code::indent_of(text).size())});
}

std::string inserting_diff_before(const Trace& trace, const SourcePlace& place, std::string_view code) {
    std::vector<std::string> changed = added_lines(place, code);
    changed.push_back(fmt::format("+{}", place.text));
    return diff_of(trace, place, changed);
}

std::string inserting_diff_after(const Trace& trace, const SourcePlace& place, std::string_view code,
                                 const SourcePlace& like) {
    std::vector<std::string> changed = added_lines(like, code);
    changed.insert(changed.begin(), fmt::format("+{}", place.text));
    return diff_of(trace, place, changed);
}

}  // namespace tidemark
