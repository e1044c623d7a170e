// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Which lines of source files the recorder process stores, and which files it leaves alone.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <numeric>

#include "storage/trace/limits.h"
#include "tests/recorder/recording_fixture.h"
#include "tests/recorder/simulated_program.h"

namespace tidemark::test {
namespace {

class SourceRecording : public Recording {
protected:
    /// Writes a file of the program. By default, it is older than the program.
    std::string write(const std::string& name, const std::string& content, bool is_old = true) const {
        const fs::path path = folder_ / name;
        fs::create_directories(path.parent_path());
        std::ofstream(path, std::ios::binary) << content;
        if (is_old) {
            fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::hours(1));
        }
        return path.string();
    }
    static std::string numbered(int count) {
        std::string text;
        for (int line = 1; line <= count; ++line) {
            text += "line " + std::to_string(line) + "\n";
        }
        return text;
    }

    struct Site {
        std::string file;
        int line = 0;
    };
    /// Records a program that allocates at these lines.
    std::shared_ptr<const Trace> record(const std::vector<Site>& sites,
                                        const std::vector<PathLinkMessage>& links = {}) {
        SimulatedProgram program({});
        EXPECT_TRUE(program.start_recorder(output_, ::getpid(), "", true)) << program.failure();
        SimulatedThread thread(program, 1, 100);
        SimulatedAllocator allocator(0);
        allocator.report_state(thread, TIDEMARK_STATE_START);
        thread.device(0, "NVIDIA Simulated", uint64_t{80} << 30);
        for (const Site& site : sites) {
            const uint32_t stack = thread.stack({{"main", site.line}}, 0, site.file);
            allocator.allocate(thread, 512, {stack, 0, thread.serial(), 0});
        }
        if (!links.empty()) {
            thread.heap_scan("end", 1, 1);
            thread.referrer(0, {}, links);
        }
        thread.end(TIDEMARK_END_STOPPED);
        EXPECT_TRUE(program.wait_for(RecorderState::finished)) << program.failure();
        return opened();
    }
    static std::vector<int32_t> numbers(const Trace& trace, const std::string& file) {
        std::vector<int32_t> found;
        if (const auto lines = trace.source_text.files().find(file); lines != trace.source_text.files().end()) {
            for (const auto& [number, text] : lines->second) {
                found.push_back(number);
            }
        }
        return found;
    }
    static int64_t count_of(const Trace& trace, DataGapReason reason) {
        for (const DataGap& gap : trace.data_gaps) {
            if (gap.reason == reason) {
                return gap.count;
            }
        }
        return 0;
    }
};

using Numbers = std::vector<int32_t>;

Numbers range(int32_t first, int32_t last) {
    Numbers numbers(static_cast<size_t>(last - first + 1));
    std::iota(numbers.begin(), numbers.end(), first);
    return numbers;
}

TEST_F(SourceRecording, StoresTheLinesAroundLinesOfTheProgram) {
    const std::string train = write("train.py", numbered(60)),
                      model = write("sub/model.py", "one\r\ntwo\t \n\xff three");
    const auto trace = record({{train, 20}, {train, 22}, {train, 59}, {model, 2}});
    ASSERT_TRUE(trace);
    Numbers expected = range(8, 34);
    for (const int32_t number : range(47, 60)) {
        expected.push_back(number);
    }
    EXPECT_EQ(numbers(*trace, train), expected);
    EXPECT_EQ(*trace->source_text.line(train, 20), "line 20");
    EXPECT_EQ(*trace->source_text.line(model, 1), "one");
    EXPECT_EQ(*trace->source_text.line(model, 2), "two");
    EXPECT_EQ(*trace->source_text.line(model, 3), "\xef\xbf\xbd three");
    EXPECT_EQ(trace->integrity, Integrity::intact);
    EXPECT_EQ(data_gaps_of(*trace), "");
}

TEST_F(SourceRecording, StoresFewerLinesAroundEachOfMany) {
    const std::string train = write("train.py", numbered(40'000));
    std::vector<Site> sites;
    for (int line = 20; line < 40'000; line += 100) {
        sites.push_back({train, line});
    }
    const auto trace = record(sites);
    ASSERT_TRUE(trace);
    const Numbers found = numbers(*trace, train);
    const auto around = [&](int32_t line) {
        return std::count_if(found.begin(), found.end(), [&](int32_t n) { return std::abs(n - line) < 50; });
    };
    EXPECT_EQ(around(20), 25);
    EXPECT_EQ(around(39'920), 7);
    EXPECT_EQ(data_gaps_of(*trace), "") << "no line was left out";
}

TEST_F(SourceRecording, StoresTheLinesOfRetentionPaths) {
    const std::string train = write("train.py", numbered(40));
    const auto trace = record({{"/nowhere/other.py", 1}}, {{"local", "results", "main", train, 29}});
    ASSERT_TRUE(trace);
    EXPECT_EQ(numbers(*trace, train), range(17, 40));
}

TEST_F(SourceRecording, ResolvesNamesAsTheProgramDoes) {
    const fs::path before = fs::current_path();
    write("relative.py", numbered(3));
    fs::current_path(folder_);
    const auto trace = record({{"relative.py", 2}});
    fs::current_path(before);
    ASSERT_TRUE(trace);
    EXPECT_EQ(numbers(*trace, "relative.py"), (Numbers{1, 2, 3}));
}

TEST_F(SourceRecording, LeavesLibrariesAndOtherFilesAlone) {
    const std::string secret = write("secret.py", numbered(9));
    std::vector<Site> sites;
    for (const char* library : {"venv/lib/python3.12/site-packages/torch/nn/linear.py", "lib/python3.12/runpy.py",
                                "dist-packages/numpy/core.py"}) {
        sites.push_back({write(library, numbered(9)), 5});
    }
    const std::string pipe = (folder_ / "pipe.py").string();
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    for (const std::string& other : {pipe, folder_.string() + "/sub.py/..", std::string("/dev/zero"),
                                     std::string("<frozen runpy>"), std::string("<string>"), std::string("<stdin>"),
                                     write("binary.py", std::string("a\0b\nc\n", 6)), write("empty.py", "")}) {
        sites.push_back({other, 1});
    }
    sites.push_back({secret, 90});
    sites.push_back({secret, -1});
    const auto trace = record(sites);
    ASSERT_TRUE(trace);
    EXPECT_TRUE(trace->source_text.empty());
    EXPECT_EQ(data_gaps_of(*trace), "");
}

TEST_F(SourceRecording, LeavesOutFilesThatAreNewerThanTheProgram) {
    const std::string edited = write("edited.py", numbered(9), false), train = write("train.py", numbered(9));
    fs::last_write_time(edited, fs::file_time_type::clock::now() + std::chrono::hours(1));
    const auto trace = record({{edited, 5}, {edited, 9}, {train, 1}});
    ASSERT_TRUE(trace);
    EXPECT_TRUE(numbers(*trace, edited).empty());
    EXPECT_EQ(numbers(*trace, train), range(1, 9));
    EXPECT_EQ(count_of(*trace, DataGapReason::source_changed), 1);
}

TEST_F(SourceRecording, IsLeftOutOnRequest) {
    const std::string train = write("train.py", "zqsecret = 1\n");
    for (const bool is_wanted : {true, false}) {
        setenv("TIDEMARK_SOURCE", is_wanted ? "1" : "0", 1);
        const auto trace = record({{train, 1}});
        ASSERT_TRUE(trace);
        std::ifstream file(output_, std::ios::binary);
        const std::string bytes((std::istreambuf_iterator<char>(file)), {});
        EXPECT_EQ(bytes.find("zqsecret") != bytes.npos, is_wanted);
        EXPECT_EQ(trace->source_text.empty(), !is_wanted);
    }
    unsetenv("TIDEMARK_SOURCE");
}

TEST_F(SourceRecording, KeepsTheLimits) {
    const std::string longest(longest_source_line + 100, 'x');
    std::string text;
    for (int line = 0; line < 2000; ++line) {
        text += longest + "\n";
    }
    const std::string generated = write("generated.py", text);
    std::vector<Site> sites;
    for (int line = 4; line < 2000; line += 7) {
        sites.push_back({generated, line});
    }
    const auto trace = record(sites);
    ASSERT_TRUE(trace);
    int64_t bytes = 0;
    for (const auto& [number, line] : trace->source_text.files().at(generated)) {
        EXPECT_EQ(line.size(), longest_source_line);
        bytes += counted_source_bytes(line.size());
    }
    EXPECT_LE(bytes, most_source_bytes);
    EXPECT_GT(bytes, most_source_bytes - 1000);
    const auto stored = static_cast<int64_t>(numbers(*trace, generated).size());
    EXPECT_GE(count_of(*trace, DataGapReason::source_cut), 1995 - stored);
}

}  // namespace
}  // namespace tidemark::test
