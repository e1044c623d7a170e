// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/report/layout.h"

#include <gtest/gtest.h>

#include <set>

#include "storage/base/utf8.h"
#include "storage/report/svg.h"

namespace tidemark {
namespace {

using Lines = std::vector<std::string>;

TEST(ReportLayout, WrapsAtSpacesAndKeepsLongWords) {
    EXPECT_EQ(wrap("one two three", 8), (Lines{"one two", "three"}));
    EXPECT_EQ(wrap("averyveryverylongname ok", 8), (Lines{"averyveryverylongname", "ok"}));
    EXPECT_EQ(wrap("", 8), (Lines{""}));
}

TEST(ReportLayout, KeepsNumbersWithTheirUnits) {
    EXPECT_EQ(wrap("gives back 484 KiB now", 14), (Lines{"gives back", "484 KiB now"}));
    EXPECT_EQ(wrap("it is 13 % of all", 8), (Lines{"it is", "13 % of", "all"}));
    EXPECT_EQ(with_firm_units("60 Bananas"), "60 Bananas");
}

TEST(ReportLayout, WrapsWideCharactersButNotBeforePunctuation) {
    EXPECT_EQ(display_width("显存 1"), 6u);
    EXPECT_EQ(pad_right("显存", 6), "显存  ");
    EXPECT_EQ(wrap("显存一直增长。", 8), (Lines{"显存一直", "增长。"}));
    EXPECT_EQ(wrap("显存增长。", 8), (Lines{"显存增", "长。"}));
}

TEST(ReportLayout, EscapesUntrustedText) {
    EXPECT_EQ(visible_text("a\033[2Jb\nc\td\r\x7f"), R"(a\x1b[2Jb\nc\td\r\x7f)");
    EXPECT_EQ(visible_lines("a\nb\rc"), "a\nb\\rc");
    EXPECT_EQ(visible_text("\xff\xc0\xafok"), R"(\xff\xc0\xafok)");
    EXPECT_EQ(visible_text("left\u202eright\u2066\u200e\u2028\u0085\ufeff"),
              R"(left\u202eright\u2066\u200e\u2028\u0085\ufeff)");
    EXPECT_EQ(visible_text("\U000e0041 \u00fcber \u4e2d\u6587"), "\\U000e0041 \u00fcber \u4e2d\u6587");
    EXPECT_EQ(visible_text("\xed\xa0\x80"), R"(\xed\xa0\x80)");
    EXPECT_EQ(visible_text(visible_text("\033\\")), visible_text("\033\\"));
    const std::string cut = visible_text(std::string(100'000, 'x'));
    EXPECT_EQ(cut.size(), most_shown_bytes + 3);
    EXPECT_TRUE(cut.ends_with("x…"));
    EXPECT_EQ(visible_json("{\"a\":\n\"\u202e\x7f\U000e0041\"}"), R"({"a":)"
                                                                  "\n"
                                                                  R"("\u202e\u007f\udb40\udc41"})");
    EXPECT_EQ(html_escaped("<a href='x'>&\"\033"), "&lt;a href=&#39;x&#39;&gt;&amp;&quot;\\x1b");
}

TEST(ReportTicks, AreFewInRangeAndDistinct) {
    constexpr int64_t mib = 1 << 20;
    for (const auto& [low, high] : std::vector<std::pair<int64_t, int64_t>>{
             {0, 1}, {0, 5 * mib}, {958 * mib, 958 * mib + 40'000}, {0, int64_t{1} << 45}, {-mib, mib}}) {
        std::set<std::string> labels;
        const std::vector<Tick> ticks = byte_ticks(low, high);
        for (const Tick& tick : ticks) {
            EXPECT_GE(tick.value, static_cast<double>(low));
            EXPECT_LE(tick.value, static_cast<double>(high));
            labels.insert(tick.label);
        }
        EXPECT_GE(ticks.size(), 2u) << low << ' ' << high;
        EXPECT_LE(ticks.size(), 6u);
        EXPECT_EQ(labels.size(), ticks.size()) << low << ' ' << high;
    }
    EXPECT_EQ(time_ticks(0, 10'000'000'000).back().label, "10 s");
    EXPECT_EQ(time_ticks(0, 2'000'000).at(1).label, "0.000\u202f5 s");
}

TEST(ReportRange, ShowsSmallChangesOfLargeValues) {
    const std::vector<int64_t> rising{1'000'000, 1'000'500, 1'001'000}, large{0, 500, 1000}, flat{7, 7};
    EXPECT_GT(range_of(rising).low, 999'000);
    EXPECT_EQ(range_of(large).low, 0);
    EXPECT_EQ(range_of(flat).low, 0);
    EXPECT_GT(range_of(flat).high, 7);
}

}  // namespace
}  // namespace tidemark
