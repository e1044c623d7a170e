// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The list of finding kinds: each has a descriptor, a page, a picture, a row in the index and an example that shows it.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "storage/explain/diagnoses.h"
#include "storage/explain/growth/suspect_classifier.h"

namespace tidemark {
namespace {

namespace fs = std::filesystem;

/// Kinds without a picture of the window. Every new kind must be drawn or listed here.
const std::set<std::string_view> without_picture{"process-groups-grow", "unsharded-parameters"};
/// Kinds that no recorded program shows; each needs a unit test.
const std::set<std::string_view> without_corpus_entry{"allocation-retries", "private-pools", "process-groups-grow",
                                                      "unexplained-growth", "unsharded-parameters"};

fs::path source_folder() { return fs::path(TIDEMARK_RESOURCES).parent_path(); }

std::string text_of(const fs::path& path) {
    std::ifstream file(source_folder() / path);
    EXPECT_TRUE(file) << path;
    return (std::stringstream() << file.rdbuf()).str();
}

std::vector<FindingKind> all_kinds() {
    std::vector<FindingKind> kinds;
    for (int i = 0; i < finding_kind_count; ++i) {
        kinds.push_back(static_cast<FindingKind>(i));
    }
    return kinds;
}

std::string identifier(FindingKind kind) {
    std::string name(finding_word(kind));
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
}

/// Returns the severity of each kind in the list: that of its diagnosis, or leak if a classifier reports it.
std::map<FindingKind, Severity> severities() {
    std::map<FindingKind, Severity> found;
    for (const Diagnosis* diagnosis : all_diagnoses()) {
        found[diagnosis->id] = diagnosis->severity;
    }
    for (const SuspectClassifier* classifier : all_suspect_classifiers()) {
        found[classifier->id] = Severity::leak;
    }
    return found;
}

/// Returns the part of docs/FINDINGS.md with the table of this severity.
std::string index_section(Severity severity) {
    static const std::map<Severity, std::string> headings{{Severity::leak, "## Leaks"},
                                                          {Severity::failure, "## Failure"},
                                                          {Severity::waste, "## Waste"},
                                                          {Severity::pattern, "## Patterns"},
                                                          {Severity::background, "## Background"}};
    const std::string index = text_of("docs/FINDINGS.md");
    const size_t begin = index.find(headings.at(severity));
    EXPECT_NE(begin, std::string::npos) << headings.at(severity);
    return index.substr(begin, index.find("\n## ", begin) - begin);
}

size_t times_in(const std::string& text, const std::string& part) {
    size_t count = 0;
    for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
        ++count;
    }
    return count;
}

TEST(ExplainKinds, AreFoundByTheirWords) {
    std::set<std::string_view> words;
    for (const FindingKind kind : all_kinds()) {
        EXPECT_TRUE(words.insert(finding_word(kind)).second) << "twice: " << finding_word(kind);
        EXPECT_EQ(finding_from_word(finding_word(kind)), kind);
    }
    EXPECT_EQ(finding_from_word("no-such-finding"), std::nullopt);
}

TEST(ExplainKinds, HaveADescriptorInTheirOwnFile) {
    const fs::path explain = source_folder() / "storage/explain";
    std::set<FindingKind> described;
    for (const Diagnosis* diagnosis : all_diagnoses()) {
        if (diagnosis != &diagnoses::growth) {
            EXPECT_TRUE(described.insert(diagnosis->id).second) << "twice: " << finding_word(diagnosis->id);
            EXPECT_TRUE(fs::exists(explain / "diagnoses" / (identifier(diagnosis->id) + ".cpp")));
        }
    }
    for (const SuspectClassifier* classifier : all_suspect_classifiers()) {
        described.insert(classifier->id);
        EXPECT_TRUE(fs::exists(explain / "growth" / (identifier(classifier->id) + ".cpp")));
    }
    EXPECT_EQ(described.size(), static_cast<size_t>(finding_kind_count));
}

TEST(ExplainKinds, DiagnosesRunPhaseByPhase) {
    EXPECT_TRUE(std::is_sorted(all_diagnoses().begin(), all_diagnoses().end(),
                               [](const Diagnosis* a, const Diagnosis* b) { return a->phase < b->phase; }));
    EXPECT_EQ(all_diagnoses().front(), &diagnoses::growth);
    EXPECT_EQ(all_diagnoses().back(), &diagnoses::cuda_context);
    EXPECT_EQ(all_suspect_classifiers().back(), &classifiers::unexplained_growth);
}

/// Returns the summary in the head of a finding's page: "*leak or waste* · SUMMARY · [all findings](...)".
std::string summary_of(const std::string& page, Severity severity) {
    const size_t begin = page.find("\n\n*") + 2;
    const std::string head = page.substr(begin, page.find('\n', begin) - begin);
    EXPECT_TRUE(head.starts_with("*" + std::string(severity_word(severity)))) << head;
    const size_t first = head.find(" · "), last = head.rfind(" · [all findings](../FINDINGS.md)");
    EXPECT_LT(first, last) << head;
    return head.substr(first + 4, last - first - 4);
}

TEST(ExplainKinds, HaveAPageAndAPicture) {
    const fs::path pages = source_folder() / "docs/findings";
    std::set<std::string> expected;
    for (const auto& [kind, severity] : severities()) {
        const std::string word(finding_word(kind));
        expected.insert(word);
        const std::string page = text_of("docs/findings/" + word + ".md");
        EXPECT_TRUE(page.starts_with("# " + word + "\n\n*")) << word;
        const bool has_picture = fs::exists(pages / "images" / (word + ".png"));
        EXPECT_NE(has_picture, without_picture.contains(word)) << word;
        EXPECT_EQ(page.find("](images/" + word + ".png)\n<!-- drawn from: ") != std::string::npos, has_picture) << word;
    }
    for (const auto& file : fs::recursive_directory_iterator(pages)) {
        EXPECT_TRUE(file.is_directory() || expected.contains(file.path().stem().string())) << file.path();
    }
}

TEST(ExplainKinds, HaveARowInTheIndexUnderTheirSeverity) {
    const std::string index = text_of("docs/FINDINGS.md");
    for (const auto& [kind, severity] : severities()) {
        const std::string word(finding_word(kind));
        const std::string summary = summary_of(text_of("docs/findings/" + word + ".md"), severity);
        const std::string row = "\n| [" + word + "](findings/" + word + ".md) | " + summary + " |\n";
        EXPECT_EQ(times_in(index, row), 1u) << word;
        EXPECT_EQ(times_in(index_section(severity), row), 1u) << word << ": run docs/make_pictures.py";
    }
    EXPECT_EQ(times_in(index, "](findings/"), static_cast<size_t>(finding_kind_count));
}

TEST(ExplainKinds, TheIndexNamesClassifiersByPrecedence) {
    std::string names;
    for (const SuspectClassifier* classifier : all_suspect_classifiers()) {
        names += (names.empty() ? "" : ", ") + std::string(finding_word(classifier->id));
    }
    std::string index = text_of("docs/FINDINGS.md");
    std::replace(index.begin(), index.end(), '\n', ' ');
    EXPECT_NE(index.find(names), std::string::npos) << names;
}

TEST(ExplainKinds, AreShownByARecordedProgramOrAUnitTest) {
    std::set<std::string> recorded;
    for (const auto& entry : nlohmann::json::parse(text_of("tests/corpus/expected.json"))) {
        for (const char* key : {"first", "contains"}) {
            if (entry.contains(key)) {
                const auto& value = entry.at(key);
                const auto words =
                    value.is_array() ? value.get<std::set<std::string>>() : std::set{value.get<std::string>()};
                recorded.insert(words.begin(), words.end());
            }
        }
    }
    const std::string tests =
        text_of("tests/unit/explain_growth_test.cpp") + text_of("tests/unit/explain_program_test.cpp") +
        text_of("tests/unit/explain_paths_test.cpp") + text_of("tests/unit/explain_device_test.cpp") +
        text_of("tests/unit/explain_unused_models_test.cpp") + text_of("tests/unit/explain_distributed_test.cpp");
    for (const FindingKind kind : all_kinds()) {
        const std::string word(finding_word(kind));
        EXPECT_NE(recorded.contains(word), without_corpus_entry.contains(word)) << word;
        EXPECT_TRUE(recorded.contains(word) || tests.find("FindingKind::" + identifier(kind)) != std::string::npos)
            << word << " is shown nowhere";
    }
    for (const std::string& word : recorded) {
        EXPECT_TRUE(finding_from_word(word)) << "expected.json names " << word;
    }
}

}  // namespace
}  // namespace tidemark
