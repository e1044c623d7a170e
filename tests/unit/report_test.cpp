// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/report/report.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/unit/sample_trace.h"

namespace tidemark {
namespace {

constexpr const char* evil = "</svg><script>alert(1)</script>\033[2J|`";

/// A trace, and an explanation with all parts of a finding. The names contain markup and control characters.
class Report : public testing::Test {
protected:
    Report()
        : trace(std::make_shared<const Trace>(test::sample_trace())),
          context(std::make_shared<const Analysis>(trace, trace->devices[0]), nullptr) {
        explanation.device_name = evil;
        explanation.event = 8;
        explanation.time_point = "the end of step 3";
        explanation.run_trend = RunTrend::grows;
        explanation.summary = {"It grows.", "Because of `kept`."};
        explanation.total = 3000;
        explanation.shares = {{evil, 2000, 2.0 / 3}, {"the CUDA context", 1000, 1.0 / 3}};
        explanation.findings = {leak(), background()};
        explanation.unknowns = {"no graph was recorded"};
    }

    Finding leak() const {
        Finding finding;
        finding.kind = FindingKind::growing_container;
        finding.severity = Severity::leak;
        finding.confidence = Confidence::likely;
        finding.basis = "seen";
        finding.title = "tensors accumulate in `kept`";
        finding.text = {evil};
        finding.bytes = 1024;
        finding.per_iteration = 512;
        finding.count = 2;
        finding.since = 1000;
        finding.stack = trace->devices[0].allocations.stack[1];
        finding.line = "train.py:20 train_step";
        finding.referrer = evil;
        finding.source = {"train.py",
                          20,
                          {{9, "\t\tfor batch in batches:"}, {20, "\t\t\tkept.append(<evil>)"}, {21, "\033[2J```<b>"}}};
        Evidence made, stretch;
        made.text = "one of them";
        made.event = 6;
        made.allocation = {0, 3};
        stretch.text = "here";
        stretch.time = 1500;
        stretch.until = 2500;
        finding.evidence = {made, stretch};
        finding.fixes = {{"Clear it.", "kept.clear()\n```\n<b>", 1024, 512},
                         {"Detach it.", "zqtemplate", 1024, 512,
                          "--- train.py\n+++ train.py\n@@ -20 +20 @@\n-kept.append(<evil>)\n+\tkept.append(0)\n"}};
        finding.unknowns = {"who holds it"};
        return finding;
    }
    static Finding background() {
        Finding finding;
        finding.kind = FindingKind::cuda_context;
        finding.severity = Severity::background;
        finding.title = "the context";
        finding.text = {"every process pays for it"};
        finding.bytes = 99;
        return finding;
    }

    std::string text(TextOptions options = {}) const { return report_text(reported(), words, options); }
    Finding& finding() { return explanation.findings.front(); }
    ReportInput reported() const { return {context, explanation}; }

    std::shared_ptr<const Trace> trace;
    AnalysisContext context;
    Explanation explanation;
    Words words{Language::english};
};

TEST(AllocationName, IsReadableAndFindsTheAllocation) {
    DeviceHistory second;
    second.device = 1;
    test::add_allocation(second, before_history, never, never, 0, 512, 512, 0);
    second.event_time = {0, 1};
    second.event_ref = {EventRef(Action::segment_alloc, 0), EventRef(Action::alloc, 1)};
    test::add_allocation(second, 1, never, never, 512, 512, 512, 0);
    DeviceHistory first = second;
    first.device = 0;
    EXPECT_EQ(first.allocation_name(0), "before:0");
    EXPECT_EQ(first.allocation_name(1), "1");
    EXPECT_EQ(second.allocation_name(0), "before:1:0");
    EXPECT_EQ(second.allocation_name(1), "1:1");
    for (const std::string name : {"before:1:0", "#before 1:0", "1:1", "#1:1", "1099511627777"}) {
        const AllocationIndex wanted = name.find("before") == name.npos ? 1 : 0;
        EXPECT_EQ(second.find_allocation(std::string_view(name)), wanted) << name;
        EXPECT_FALSE(first.find_allocation(std::string_view(name))) << name;
    }
    EXPECT_EQ(first.find_allocation(std::string_view("1")), AllocationIndex{1});
    for (const std::string_view wrong : {"", "#", "before", "before:", "1:", ":1", "-1", "x", "0", "1:2", "1x"}) {
        EXPECT_FALSE(first.find_allocation(wrong)) << wrong;
        EXPECT_FALSE(second.find_allocation(wrong)) << wrong;
    }
}

TEST_F(Report, TextHasEvidenceAndFixes) {
    const std::string page = text();
    for (const char* part : {"It grows. Because of", "Leak: tensors accumulate", "+512 B", "train.py:20 train_step",
                             "event:6", "time:1500ns", "kept.clear()", "Frees 1.00 KiB, and 512 B", "likely. seen",
                             "who holds it", "no graph was recorded"}) {
        EXPECT_NE(page.find(part), page.npos) << part << "\n" << page;
    }
    EXPECT_NE(page.find("allocation " + trace->devices[0].allocation_name(3)), page.npos) << page;
}

TEST_F(Report, EveryFormatShowsTheLineAndItsChange) {
    finding().source.lines[2].text = "";
    const ReportInput devices[] = {reported()};
    const std::string plain = text(), html = report_html(devices, words), markdown = report_markdown(devices, words);
    const auto json = report_json(reported());
    EXPECT_NE(plain.find("         9 | for batch in batches:\n      > 20 |     kept.append(<evil>)\n        21 | \n"),
              plain.npos)
        << plain;
    EXPECT_NE(plain.find("            -kept.append(<evil>)\n            +   kept.append(0)\n"), plain.npos) << plain;
    EXPECT_NE(html.find("<span class=\"marked\"><i>20</i>    kept.append(&lt;evil&gt;)</span>"), html.npos);
    EXPECT_NE(html.find("<span class=\"removed\">-kept.append(&lt;evil&gt;)</span>"), html.npos);
    EXPECT_NE(markdown.find("  > 20 |     kept.append(<evil>)\n"), markdown.npos) << markdown;
    EXPECT_NE(markdown.find("  ```diff\n  --- train.py\n"), markdown.npos);
    EXPECT_EQ(json["findings"][0]["source"][1], (nlohmann::json{{"line", 20}, {"text", "\t\t\tkept.append(<evil>)"}}));
    EXPECT_NE(json["findings"][0]["fixes"][1]["diff"].get<std::string>().find("\n+\tkept.append(0)\n"),
              std::string::npos);
    EXPECT_TRUE(json["findings"][1]["source"].empty());
    for (const std::string& page : {plain, html, markdown}) {
        EXPECT_EQ(page.find("zqtemplate"), page.npos) << "the diff replaces the zqtemplate";
    }
}

TEST_F(Report, HtmlHasTheBytesOfALineWhoseSourceWasNotRecorded) {
    finding().source = {};
    const ReportInput devices[] = {reported()};
    const std::string html = report_html(devices, words);
    const size_t block = html.find("<pre class=\"source\">");
    ASSERT_NE(block, html.npos);
    const std::string shown = html.substr(block, html.find("</pre>", block) - block);
    for (const char* part : {"Active", "At the peak", "Leaked", " KiB</b>", "train.py:20 train_step"}) {
        EXPECT_NE(shown.find(part), shown.npos) << part << "\n" << shown;
    }
}

TEST_F(Report, CutsLongLinesOfSource) {
    finding().source.lines[1].text = std::string(300, 'x');
    EXPECT_NE(text({60, false, false}).find("xxx…\n"), std::string::npos);
}

TEST_F(Report, TextShortensBackgroundFindings) {
    EXPECT_NE(text().find("- the context (99 B)"), std::string::npos);
    EXPECT_EQ(text().find("every process pays"), std::string::npos);
    EXPECT_NE(text({100, false, true}).find("every process pays"), std::string::npos);
}

TEST_F(Report, TextHasNoEscapesExceptForColors) {
    EXPECT_EQ(text().find('\033'), std::string::npos);
    const std::string colored = text({100, true, false});
    EXPECT_NE(colored.find("\033[1;31m"), std::string::npos);
    EXPECT_EQ(colored.find("\033[2J"), std::string::npos);
}

TEST_F(Report, TextFitsItsWidth) {
    std::string page = text({60, false, false});
    size_t begin = 0;
    for (size_t end = page.find('\n'); end != page.npos; end = page.find('\n', begin)) {
        const std::string line = page.substr(begin, end - begin);
        const bool is_name =
            line.find("script") != line.npos || line.find("█") != line.npos || line.find("total") != line.npos;
        EXPECT_TRUE(is_name || line.size() <= 64) << line;
        begin = end + 1;
    }
}

TEST_F(Report, JsonHasTheDocumentedKeys) {
    const nlohmann::ordered_json json = report_json(reported());
    EXPECT_EQ(json["run_trend"], "grows");
    EXPECT_EQ(json["time_point"]["event"], 8);
    const auto& finding = json["findings"][0];
    EXPECT_EQ(finding["kind"], "growing-container");
    EXPECT_EQ(finding["severity"], "leak");
    EXPECT_EQ(finding["per_iteration_bytes"], 512);
    EXPECT_EQ(finding["stack"].size(), 3u);
    EXPECT_EQ(finding["evidence"][0]["allocation"], trace->devices[0].allocation_id(3));
    EXPECT_EQ(finding["evidence"][1]["until_ns"], 2500);
    EXPECT_TRUE(finding["evidence"][1]["event"].is_null());
    EXPECT_EQ(finding["fixes"][0]["per_iteration_bytes"], 512);
    EXPECT_TRUE(json["findings"][1]["per_iteration_bytes"].is_null());
    EXPECT_TRUE(json["findings"][1]["component"].is_null());
}

TEST_F(Report, HtmlEscapesNamesAndIsSelfContained) {
    const ReportInput devices[] = {reported()};
    const std::string page = report_html(devices, words);
    for (const char* part : {"<script", "</svg><script", "\033", "http://", "https://", "src=", "url("}) {
        EXPECT_EQ(page.find(part), page.npos) << part;
    }
    EXPECT_NE(page.find("&lt;script&gt;alert(1)"), page.npos);
    EXPECT_NE(page.find("<code>kept</code>"), page.npos);
    EXPECT_NE(page.find("<svg"), page.npos);
    EXPECT_NE(page.find("prefers-color-scheme: dark"), page.npos);
}

TEST_F(Report, MarkdownEscapesNamesAndFencesCode) {
    const ReportInput devices[] = {reported()};
    const std::string page = report_markdown(devices, words);
    EXPECT_EQ(page.find("<script"), page.npos);
    EXPECT_NE(page.find("&lt;script&gt;"), page.npos);
    EXPECT_NE(page.find("````python"), page.npos);
    EXPECT_NE(page.find("tensors accumulate in `kept`"), page.npos);
    EXPECT_NE(page.find("`--at event:6`"), page.npos);
}

TEST_F(Report, WritesAPageForAnEmptyExplanation) {
    explanation = {};
    const ReportInput devices[] = {reported()};
    EXPECT_NE(report_html(devices, words).find("</html>"), std::string::npos);
    EXPECT_FALSE(text().empty());
    EXPECT_TRUE(report_json(reported())["findings"].empty());
}

}  // namespace
}  // namespace tidemark
