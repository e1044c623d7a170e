// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The C ABI of libtidemark_reader.so, and the arrays that it passes on.
#include "recorder/reader/reader.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "recorder/reader/arrow_abi.h"

namespace {

namespace fs = std::filesystem;

const char* const tables[] = {"runs",        "sites",     "steps",  "findings", "events",
                              "allocations", "breakdown", "active", "groups"};

struct CloseRun {
    void operator()(tidemark_run* run) const { tidemark_run_close(run); }
};
struct CloseTable {
    void operator()(tidemark_table* table) const { tidemark_table_close(table); }
};
using OpenRun = std::unique_ptr<tidemark_run, CloseRun>;
using OpenTable = std::unique_ptr<tidemark_table, CloseTable>;

OpenRun open_run(const fs::path& path, std::string* sentence = nullptr) {
    char error[1000] = "";
    OpenRun run(tidemark_run_open(path.c_str(), error, sizeof error));
    EXPECT_EQ(run == nullptr, error[0] != '\0');
    if (sentence != nullptr) {
        *sentence = error;
    }
    return run;
}

OpenTable table_of(const OpenRun& run, const char* name, const char* at = nullptr, int32_t device = -1,
                   std::string* sentence = nullptr) {
    char error[1000] = "";
    OpenTable table(tidemark_run_table(run.get(), name, device, at, "line", error, sizeof error));
    EXPECT_EQ(table == nullptr, error[0] != '\0') << error;
    if (sentence != nullptr) {
        *sentence = error;
    }
    return table;
}

std::vector<fs::path> traces() {
    std::vector<fs::path> paths;
    for (const char* folder : {"/traces", "/recorded"}) {
        for (const auto& entry : fs::directory_iterator(std::string(TIDEMARK_TEST_DATA) + folder)) {
            if (entry.path().extension() == ".tide") {
                paths.push_back(entry.path());
            }
        }
    }
    return paths;
}

/// A stream as a consumer takes it. Releases it at the end.
class Stream {
public:
    explicit Stream(const OpenTable& table)
        : stream_(static_cast<ArrowArrayStream*>(tidemark_table_stream(table.get()))) {}
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;
    ~Stream() {
        if (stream_->release != nullptr) {
            stream_->release(stream_.get());
        }
    }
    ArrowSchema schema() {
        ArrowSchema schema{};
        EXPECT_EQ(stream_->get_schema(stream_.get(), &schema), 0);
        return schema;
    }
    ArrowArray next() {
        ArrowArray array{};
        EXPECT_EQ(stream_->get_next(stream_.get(), &array), 0);
        return array;
    }

private:
    std::unique_ptr<ArrowArrayStream> stream_;
};

bool is_present(const ArrowArray& column, int64_t row) {
    const auto* bits = static_cast<const uint8_t*>(column.buffers[0]);
    return bits == nullptr || ((bits[row / 8] >> (row % 8)) & 1) != 0;
}

std::string text_at(const ArrowArray& texts, int64_t i) {
    const auto* offsets = static_cast<const int64_t*>(texts.buffers[1]);
    EXPECT_LE(offsets[i], offsets[i + 1]);
    return {static_cast<const char*>(texts.buffers[2]) + offsets[i], static_cast<size_t>(offsets[i + 1] - offsets[i])};
}

/// Returns a value as text; "null" if it is missing.
std::string value_at(const ArrowSchema& schema, const ArrowArray& column, int64_t row) {
    if (!is_present(column, row)) {
        return "null";
    }
    const std::string format = schema.format;
    if (schema.dictionary != nullptr) {
        const int32_t number = static_cast<const int32_t*>(column.buffers[1])[row];
        EXPECT_LT(number, column.dictionary->length);
        return text_at(*column.dictionary, number);
    }
    if (format == "b") {
        const auto* bits = static_cast<const uint8_t*>(column.buffers[1]);
        return ((bits[row / 8] >> (row % 8)) & 1) != 0 ? "true" : "false";
    }
    if (format == "i") {
        return std::to_string(static_cast<const int32_t*>(column.buffers[1])[row]);
    }
    if (format == "l" || format == "tsn:UTC") {
        return std::to_string(static_cast<const int64_t*>(column.buffers[1])[row]);
    }
    EXPECT_EQ(format, "U");
    return text_at(column, row);
}

using Values = std::map<std::string, std::vector<std::string>>;  // by column

/// Reads every value of a table, and checks the counts that its arrays state.
Values values_of(const OpenTable& table) {
    Values values;
    Stream stream(table);
    ArrowSchema schema = stream.schema();
    EXPECT_STREQ(schema.format, "+s");
    int64_t rows = 0;
    for (ArrowArray batch = stream.next(); batch.release != nullptr; batch = stream.next()) {
        EXPECT_EQ(batch.n_children, schema.n_children);
        rows += batch.length;
        for (int64_t c = 0; c < batch.n_children; ++c) {
            const ArrowArray& column = *batch.children[c];
            EXPECT_EQ(column.length, batch.length);
            int64_t missing = 0;
            for (int64_t row = 0; row < column.length; ++row) {
                missing += is_present(column, row) ? 0 : 1;
                values[schema.children[c]->name].push_back(value_at(*schema.children[c], column, row));
            }
            EXPECT_EQ(column.null_count, missing);
        }
        batch.release(&batch);
        EXPECT_EQ(batch.release, nullptr);
    }
    EXPECT_EQ(rows, tidemark_table_rows(table.get()));
    schema.release(&schema);
    return values;
}

int64_t sum(const std::vector<std::string>& numbers) {
    return std::accumulate(numbers.begin(), numbers.end(), int64_t{0},
                           [](int64_t total, const std::string& number) { return total + std::atoll(number.c_str()); });
}

const fs::path example = std::string(TIDEMARK_TEST_DATA) + "/recorded/eager.tide";

}  // namespace

TEST(Reader, ReadsEveryTableOfEveryTrace) {
    ASSERT_GE(traces().size(), 8);
    for (const fs::path& path : traces()) {
        SCOPED_TRACE(path);
        const OpenRun run = open_run(path);
        ASSERT_NE(run, nullptr);
        for (const char* name : tables) {
            SCOPED_TRACE(name);
            const OpenTable table = table_of(run, name);
            ASSERT_NE(table, nullptr);
            values_of(table);
        }
        Values active = values_of(table_of(run, "active", "peak")), groups = values_of(table_of(run, "groups", "peak"));
        EXPECT_EQ(sum(active["bytes"]), sum(groups["bytes"]));
    }
}

TEST(Reader, TextsOfADictionaryAreUnique) {
    const OpenRun run = open_run(example);
    const OpenTable table = table_of(run, "allocations");
    Stream stream(table);
    ArrowArray batch = stream.next();
    int dictionaries = 0;
    for (int64_t c = 0; c < batch.n_children; ++c) {
        if (const ArrowArray* texts = batch.children[c]->dictionary) {
            std::set<std::string> distinct;
            for (int64_t i = 0; i < texts->length; ++i) {
                EXPECT_TRUE(distinct.insert(text_at(*texts, i)).second);
            }
            ++dictionaries;
        }
    }
    EXPECT_GE(dictionaries, 5);
    batch.release(&batch);
}

TEST(Reader, ArraysOutliveTheTableTheRunAndTheStream) {
    ArrowArray batch{};
    ArrowSchema schema{};
    {
        const OpenRun run = open_run(example);
        const OpenTable table = table_of(run, "allocations");
        Stream stream(table);
        schema = stream.schema();
        batch = stream.next();
    }
    for (int64_t c = 0; c < batch.n_children; ++c) {
        value_at(*schema.children[c], *batch.children[c], batch.length - 1);
    }
    batch.release(&batch);
    schema.release(&schema);
}

TEST(Reader, AColumnCanBeTakenOut) {
    const OpenRun run = open_run(example);
    const OpenTable table = table_of(run, "allocations");
    Stream stream(table);
    ArrowSchema schema = stream.schema();
    ArrowArray batch = stream.next();
    const int64_t last = batch.n_children - 1;
    ArrowArray column = *batch.children[last];
    ArrowSchema its_schema = *schema.children[last];
    batch.children[last]->release = nullptr;
    schema.children[last]->release = nullptr;
    batch.release(&batch);
    schema.release(&schema);
    EXPECT_STREQ(its_schema.name, "stack");
    EXPECT_NE(value_at(its_schema, column, 0), "");
    column.release(&column);
    its_schema.release(&its_schema);
}

TEST(Reader, ErrorsAreSentences) {
    std::string sentence;
    EXPECT_EQ(open_run("/nowhere/run.tide", &sentence), nullptr);
    EXPECT_NE(sentence.find("/nowhere/run.tide cannot be opened"), sentence.npos) << sentence;
    const OpenRun run = open_run(example);
    EXPECT_EQ(table_of(run, "none", nullptr, -1, &sentence), nullptr);
    EXPECT_EQ(table_of(run, "active", "mark:none", -1, &sentence), nullptr);
    EXPECT_NE(sentence.find("none"), sentence.npos) << sentence;
    EXPECT_EQ(table_of(run, "sites", nullptr, 77, &sentence), nullptr);
    EXPECT_NE(sentence.find("77"), sentence.npos) << sentence;
    char small[12] = "";
    EXPECT_EQ(tidemark_run_open("/nowhere/run.tide", small, sizeof small), nullptr);
    EXPECT_STREQ(small, "/nowhere/ru");
}

TEST(Reader, ThreadsShareARun) {
    const OpenRun run = open_run(example);
    std::vector<Values> found(8);
    std::vector<std::thread> threads;
    for (size_t i = 0; i < found.size(); ++i) {
        threads.emplace_back([&, i] {
            for (const char* name : {"findings", "active", "events"}) {
                found[i].merge(values_of(table_of(run, name)));
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    for (const Values& values : found) {
        EXPECT_EQ(values, found.front());
    }
}

TEST(Reader, FilesThatWereCutAreReadOrRefused) {
    std::ifstream file(example, std::ios::binary);
    const std::string content((std::istreambuf_iterator<char>(file)), {});
    const fs::path cut = fs::temp_directory_path() / ("tidemark-cut-" + std::to_string(::getpid()) + ".tide");
    for (const size_t part : {0, 1, 3, 5, 7, 9, 10}) {
        std::ofstream(cut, std::ios::binary) << content.substr(0, content.size() * part / 10);
        std::string sentence;
        if (const OpenRun run = open_run(cut, &sentence)) {
            for (const char* name : tables) {
                if (const OpenTable table = table_of(run, name)) {
                    values_of(table);
                }
            }
        } else {
            EXPECT_GT(sentence.size(), 20U);
        }
    }
    fs::remove(cut);
}
