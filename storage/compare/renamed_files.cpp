// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/compare/renamed_files.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "storage/trace/base_name.h"

namespace tidemark {
namespace {

/// What is known of a file of the user's code.
struct UserFile {
    std::set<std::pair<int32_t, std::string>> lines;  ///< with their functions
    std::set<std::string> functions;                  ///< without those that every file may have
};

std::map<std::string, UserFile> user_files(const StackTable& stacks) {
    std::map<std::string, UserFile> files;
    for (FrameId id = 1; id < stacks.frame_count(); ++id) {
        if (stacks.role(id) != FrameRole::user) {
            continue;
        }
        const Frame& frame = stacks.frame(id);
        const std::string& function = stacks.string(frame.function);
        UserFile& file = files[std::string(base_name(stacks.string(frame.file)))];
        file.lines.emplace(frame.line, function);
        if (function != "<module>" && function != "main") {
            file.functions.insert(function);
        }
    }
    return files;
}

/// Returns whether both have most of their elements in common. One element in common may be chance.
template <class Element>
bool are_mostly_equal(const std::set<Element>& a, const std::set<Element>& b) {
    const auto common = static_cast<size_t>(
        std::count_if(a.begin(), a.end(), [&](const Element& element) { return b.contains(element); }));
    return common >= 2 && 2 * common > a.size() && 2 * common > b.size();
}

bool is_same_file(const UserFile& a, const UserFile& b) {
    return are_mostly_equal(a.lines, b.lines) || are_mostly_equal(a.functions, b.functions);
}

}  // namespace

std::vector<RenamedFile> renamed_files(const StackTable& a, const StackTable& b) {
    const auto of_a = user_files(a), of_b = user_files(b);
    std::vector<RenamedFile> pairs;
    for (const auto& [name_a, file_a] : of_a) {
        for (const auto& [name_b, file_b] : of_b) {
            if (!of_b.contains(name_a) && !of_a.contains(name_b) && is_same_file(file_a, file_b)) {
                pairs.push_back({name_a, name_b});
            }
        }
    }
    std::vector<RenamedFile> renamed;
    std::copy_if(pairs.begin(), pairs.end(), std::back_inserter(renamed), [&](const RenamedFile& pair) {
        return std::count_if(pairs.begin(), pairs.end(),
                             [&](const RenamedFile& other) { return other.a == pair.a || other.b == pair.b; }) == 1;
    });
    return renamed;
}

std::string named_as_in_b(std::string_view line, std::span<const RenamedFile> renamed) {
    const auto found = std::find_if(renamed.begin(), renamed.end(), [&](const RenamedFile& each) {
        const std::string_view rest = line.substr(std::min(each.a.size(), line.size()));
        return line.starts_with(each.a) && (rest.empty() || rest.front() == ':' || rest.front() == ' ');
    });
    return found == renamed.end() ? std::string(line) : found->b + std::string(line.substr(found->a.size()));
}

std::string without_line_number(std::string_view line) {
    const size_t space = line.find(' ');
    const size_t colon = space == line.npos ? space : line.rfind(':', space);
    return colon == line.npos ? std::string(line)
                              : std::string(line.substr(0, colon)) + std::string(line.substr(space));
}

}  // namespace tidemark
