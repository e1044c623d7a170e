// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Redaction against an attacker: a trace in which every text is a secret, and every file that comes of it, byte by
// byte.
#include "storage/export/redaction.h"

#include <gtest/gtest.h>
#include <sqlite3.h>
#include <zstd.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>

#include "storage/export/file_check.h"
#include "storage/export/leak_search.h"
#include "storage/export/public_names.h"
#include "storage/export/share.h"
#include "storage/format/schema.h"
#include "storage/read/file_texts.h"
#include "storage/read/open_trace.h"
#include "storage/read/read_graph.h"
#include "storage/timeline/curves.h"
#include "tests/unit/graph_builder.h"
#include "tests/unit/temporary_folder.h"

namespace tidemark {
namespace {

using Folder = test::TemporaryFolder;

constexpr Redaction all{.paths = true, .source = true, .names = true, .times = true};
constexpr int64_t secret_time = 1795252033425954129;

/// Numbers the secrets, so that a failure names the text that is left.
class Secrets {
public:
    std::string operator()(const std::string& form = "{}") {
        std::string text = form;
        text.replace(text.find("{}"), 2, "zq7secret" + std::to_string(++count_));
        return text;
    }

private:
    int count_ = 100;
};

/// Paths of files that are not public, in all spellings.
std::vector<std::string> secret_files(Secrets& secret) {
    std::vector<std::string> files;
    for (const char* form : {"/home/anna/{}.py",
                             "/home/anna/My Projects/{} v2/train.py",
                             "../{}/train.py",
                             "{}.py",
                             "{}",
                             "C:\\Users\\{}\\a.py",
                             "\\\\server\\share\\{}\\x.py",
                             "/opt/venv/lib/python3.11/site-packages/{}/model.py",
                             "/opt/venv/lib/python3.11/site-packages/torch/{}.py",
                             "/opt/venv/lib/python3.11/site-packages/torch/nn/{}/x.py",
                             "C:\\venv\\Lib\\site-packages\\{}\\y.py",
                             "/home/{}/torch/nn/functional.py",
                             "torch/{}.py",
                             "/usr/lib/{}/worker.py",
                             "/usr/lib/python3.12/{}.py",
                             "/usr/lib/python3{}/runpy.py",
                             "/tmp/torchinductor_{}/ab/c.py",
                             "<frozen {}>",
                             "<eval_with_key>.{}",
                             "<ipython-input-1-{}>",
                             "<{}>",
                             "lib{}.so",
                             "libcuda_{}.so.1",
                             "/x/libcublas.so.{}",
                             "aten/src/{}.cpp",
                             "/projekté/{}/é\n.py",
                             "torch/csrc/{}.cpp",
                             "__{}__.py",
                             "/a/site-packages/torch/../../{}/x.py"}) {
        files.push_back(secret(form));
    }
    return files;
}

/// Names of any kind, some of which look public.
std::vector<std::string> secret_names(Secrets& secret) {
    std::vector<std::string> names;
    for (const char* form : {"{}",
                             "{} with spaces",
                             "__{}__",
                             "aten::{}",
                             "{}::op",
                             "{}Backward",
                             "{}Backward0",
                             "torch::autograd::{}",
                             "Optimizer.step#{}.step",
                             "MmBackward0 > {}",
                             "{} > aten::mm",
                             "autograd::engine::evaluate_function: {}",
                             "Módulo.{}\nnewline",
                             "layer.0.{}.weight",
                             "exp_avg of {}.weight",
                             "{} of weight",
                             "<{}>",
                             "forward {}",
                             "garbage collection {}",
                             "garbage collection ({} objects)",
                             "/home/{}/model.pt",
                             "0/{}",
                             "weight[{}]",
                             "at::native::{}()",
                             "Module.{}.<locals>.<lambda>",
                             "libcublas.so.{}"}) {
        names.push_back(secret(form));
    }
    return names;
}

uint32_t add_origin(Trace& trace, Origin origin) {
    trace.origins.push_back(std::move(origin));
    return static_cast<uint32_t>(trace.origins.size() - 1);
}

/// Returns a trace with a graph that has a secret in every text, and more of them where texts have many forms.
std::pair<Trace, GraphTables> secret_trace() {
    Secrets secret;
    test::RandomRun run(1);
    Trace trace = run.trace;
    test::GraphBuilder graph = run.builder;
    trace.start_utc_ns = secret_time;
    trace.source = secret("recording of process 12 {}");
    trace.writer = secret();
    trace.settings = {{"PYTORCH_CUDA_ALLOC_CONF", secret("\"backend:{}\"")},
                      {secret(), "1"},
                      {"backend", secret("\"/home/{}\"")},
                      {"expandable_segments", "true"}};
    trace.streams.push_back({5, secret()});
    trace.nvml_pid = 77;
    trace.source_text.add(secret("/home/anna/{}.py"), 12, secret("outputs.append({})"));
    trace.processes = {{4711,
                        {0, 0, 2, secret("node-{}"), secret("Worker {}")},
                        secret("python train.py --api-key {}"),
                        -5000,
                        9000,
                        1,
                        {ProcessEnd::exception, secret("KeyError: '{}'")}}};
    trace.steps[0].source = {StepSource::unknown, secret()};
    trace.marks = {{secret(), 100, std::nullopt, {{0, 1}}}};
    trace.samples = {{0, 0, 4711, 1, 2, {SampleSource::unknown, secret()}}};
    DataGap old{DataGapKind::not_recorded, 0, 0, 0, 0, DataGapReason::none, {}, secret("module {} failed")};
    DataGap newer{DataGapKind::not_recorded, 0, 0, 0, 0, {DataGapReason::unknown, secret()}, {}, ""};
    DataGap failed{DataGapKind::not_recorded, 0, 0, 0, 0, DataGapReason::recorder_failed, {}, ""};
    failed.arguments = {{"details", secret("cannot write /home/{}")},
                        {secret(), "1"},
                        {"first", secret()},
                        {"of_whole_trace", secret()},
                        {"what", secret()},
                        {"tables", secret()},
                        {"count", "5"}};
    trace.data_gaps = {old, newer, failed};

    DeviceHistory& device = trace.devices[0];
    device.name = secret("NVIDIA {}");
    const auto files = secret_files(secret);
    const auto names = secret_names(secret);
    std::vector<StackId> stacks;
    for (const std::string& file : files) {
        stacks.push_back(test::stack_of(
            trace.stacks, {{file, secret("Net.{}")}, {"/x/site-packages/torch/nn/functional.py", "relu"}}));
    }
    for (const std::string& name : names) {
        stacks.push_back(test::stack_of(
            trace.stacks, {{"/x/site-packages/torch/nn/functional.py", name}, {"??", name}, {"a.py", name}}));
    }
    for (uint32_t a = 0; a < device.allocations.size(); ++a) {
        device.allocations.stack[a] = stacks[a % stacks.size()];
        const std::string& name = names[a % names.size()];
        device.allocations.origin[a] =
            add_origin(trace, {name, name, {Phase::named, name}, name, name, static_cast<int64_t>(a)});
    }
    device.others.push_back({399, Action::unknown, secret(), 0, 0, stacks[0]});
    device.event_ref[399] = {Action::unknown, 0};
    for (const std::string& name : names) {
        for (const AnnotationKind kind :
             {AnnotationKind::user, AnnotationKind::phase, AnnotationKind::garbage_collection}) {
            trace.annotations.push_back({name, kind, 0, 0, 10, true});
        }
        graph.node(name, {}, {{0, 0}}, {});
        graph.tables.nodes.variable.back() = graph.text(name);
        graph.tables.saved.name.back() = graph.text(name);
        graph.label({0, 1}, 5, Category::parameter, name);
    }
    trace.annotations.push_back({"a", {AnnotationKind::unknown, secret()}, 0, 0, 10, true});
    for (const std::string& file : files) {
        trace.driver_allocations.push_back(
            {{DriverMemoryKind::unknown, secret()}, 0, 1, 1, 0, std::nullopt, file, 0, false});
    }
    std::vector<PathLink> links;
    for (const std::string& name : names) {
        for (const PathLinkKind kind :
             {PathLinkKind::local, PathLinkKind::index, PathLinkKind::native, PathLinkKind::attribute}) {
            links.push_back({kind, graph.text(name), graph.text(name), graph.text(name), 3});
        }
        links.push_back({{PathLinkKind::unknown, name}, 0, 0, 0, 0});
    }
    graph.tables.referrers.push_back({0, 0, {0, 0}, links});
    graph.tables.scans.push_back({6000, {ScanReason::unknown, secret()}, 1, 1, 1});
    graph.tables.scans.push_back({6500, {ScanReason::mark, secret()}, 1, 1, 1});
    return {trace, graph.tables};
}

void execute(const std::string& path, const std::string& sql) {
    sqlite3* database = nullptr;
    ASSERT_EQ(sqlite3_open(path.c_str(), &database), SQLITE_OK);
    char* error = nullptr;
    EXPECT_EQ(sqlite3_exec(database, sql.c_str(), nullptr, nullptr, &error), SQLITE_OK) << error << sql;
    sqlite3_free(error);
    sqlite3_close(database);
}

/// Writes the secret trace, and adds secrets to the columns that the model in memory does not have.
std::string write_secret_trace(const Folder& folder) {
    const auto [trace, graph] = secret_trace();
    const std::string path = folder / "secret.tide";
    Progress progress;
    const Status status = write_trace(trace, peak_events(trace), path, IfExists::fail, progress, &graph);
    EXPECT_TRUE(status) << status.error().sentence.english();
    execute(
        path,
        "INSERT INTO thread VALUES(1, 1, 5, 'zq7secret901'); UPDATE process SET role='zq7secret902';"
        "UPDATE device SET uuid='GPU-zq7secret903'; UPDATE pool SET name='zq7secret904';"
        "INSERT INTO meta VALUES('recorded.zq7secret905', 'zq7secret906');"
        "CREATE TABLE foreign_table(a, b); INSERT INTO foreign_table VALUES('zq7secret907', x'7A713773656372657439');");
    return path;
}

std::string bytes_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

/// Returns the bytes of the file and of its decompressed chunks, in lower case.
std::string everything_in(const std::string& path) {
    std::string bytes = bytes_of(path);
    Progress progress;
    const Status read = for_each_text(path, progress, [&](const FileText& text) -> Status {
        if (text.is_blob && text.column == "data") {
            std::string content(ZSTD_getFrameContentSize(text.value.data(), text.value.size()), '\0');
            EXPECT_EQ(ZSTD_decompress(content.data(), content.size(), text.value.data(), text.value.size()),
                      content.size());
            bytes += content;
        }
        return {};
    });
    EXPECT_TRUE(read);
    std::transform(bytes.begin(), bytes.end(), bytes.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? c + 32 : c; });
    return bytes;
}

void share(const std::string& input, const std::string& output, const Redaction& redaction) {
    Progress progress;
    const auto report = share_trace(input, output, {redaction, "", ""}, IfExists::fail, progress);
    ASSERT_TRUE(report) << report.error().sentence.english();
}

std::set<std::string> secrets_left(const std::string& path) {
    const std::string bytes = everything_in(path);
    std::set<std::string> left;
    for (size_t at = bytes.find("zq7"); at != std::string::npos; at = bytes.find("zq7", at + 1)) {
        left.insert(bytes.substr(at, 12));
    }
    return left;
}

TEST(Redaction, NothingSecretIsLeft) {
    const Folder folder;
    const std::string original = write_secret_trace(folder);
    ASSERT_GT(secrets_left(original).size(), 100u);
    share(original, folder / "shared.tide", all);
    EXPECT_EQ(secrets_left(folder / "shared.tide"), std::set<std::string>());
    EXPECT_EQ(everything_in(folder / "shared.tide").find("1795252033"), std::string::npos);
    for (const char* path : {"anna", "projekt", "my projects", "server"}) {
        EXPECT_EQ(everything_in(folder / "shared.tide").find(path), std::string::npos) << path;
    }
}

TEST(Redaction, EachOfPathsNamesAndSourceRemovesTextsOfAnyContent) {
    const Folder folder;
    const std::string original = write_secret_trace(folder);
    for (const auto& [name, redaction] :
         {std::pair("paths", Redaction{.paths = true}), std::pair("names", Redaction{.names = true}),
          std::pair("source", Redaction{.source = true})}) {
        const std::string output = folder / (std::string(name) + ".tide");
        share(original, output, redaction);
        const std::string bytes = everything_in(output);
        for (const char* text : {"--api-key", "keyerror", "recording of process", "cannot write", " failed"}) {
            EXPECT_EQ(bytes.find(text), std::string::npos) << name << ": " << text;
        }
        Progress progress;
        const auto shared = open_trace(output, progress);
        ASSERT_TRUE(shared);
        EXPECT_EQ((*shared)->processes[0].command_line, "");
        EXPECT_EQ((*shared)->devices[0].name, "");
        EXPECT_EQ((*shared)->settings, (std::map<std::string, std::string>{{"expandable_segments", "true"}}));
        EXPECT_EQ((*shared)->start_utc_ns, secret_time);
    }
}

TEST(Redaction, PathsRemovesAllPaths) {
    auto [trace, graph] = secret_trace();
    redact(trace, {.paths = true}, &graph);
    for (StringId id = 0; id < trace.stacks.string_count(); ++id) {
        const std::string& text = trace.stacks.string(id);
        EXPECT_FALSE(text.find_first_of("/\\") != text.npos && text.find("zq7") != text.npos) << text;
    }
    for (FrameId id = 1; id < trace.stacks.frame_count(); ++id) {
        EXPECT_EQ(trace.stacks.string(trace.stacks.frame(id).file).find("zq7"), std::string::npos);
    }
    for (const DriverAllocation& allocation : trace.driver_allocations) {
        EXPECT_EQ(allocation.source.find("zq7"), std::string::npos);
    }
}

TEST(Redaction, NamesRemovesAllNames) {
    auto [trace, graph] = secret_trace();
    redact(trace, {.names = true}, &graph);
    for (FrameId id = 1; id < trace.stacks.frame_count(); ++id) {
        EXPECT_EQ(trace.stacks.string(trace.stacks.frame(id).function).find("zq7"), std::string::npos);
    }
    for (const Annotation& annotation : trace.annotations) {
        EXPECT_EQ(annotation.name.find("zq7"), std::string::npos);
    }
    for (const Origin& origin : trace.origins) {
        EXPECT_EQ((origin.op + origin.module + origin.phase.text + origin.compile_context).find("zq7"),
                  std::string::npos);
    }
    for (const uint32_t text : graph.nodes.type) {
        EXPECT_EQ(graph.texts[text].find("zq7"), std::string::npos);
    }
}

TEST(Redaction, TimesRemovesTheDateOnly) {
    const Folder folder;
    const std::string original = write_secret_trace(folder);
    share(original, folder / "shared.tide", {.times = true});
    Progress progress;
    const auto shared = open_trace(folder / "shared.tide", progress);
    ASSERT_TRUE(shared);
    EXPECT_EQ((*shared)->start_utc_ns, 0);
    EXPECT_EQ((*shared)->processes[0].start, 0);
    EXPECT_EQ((*shared)->processes[0].end, 9000);
    EXPECT_NE((*shared)->processes[0].command_line.find("zq7secret"), std::string::npos);
    EXPECT_EQ(bytes_of(folder / "shared.tide").find("1795252033"), std::string::npos);
}

TEST(Redaction, KeepsWhatIsPublic) {
    Trace trace = test::sample_trace();
    const StackId stack = test::stack_of(
        trace.stacks,
        {{"/home/anna/venv/lib/python3.12/site-packages/torch/nn/modules/module.py", "Module.cuda.<locals>.<lambda>"},
         {"/usr/lib/python3.12/runpy.py", "_run_code"},
         {"C:\\venv\\Lib\\site-packages\\torch\\optim\\adam.py", "Adam.step"},
         {"/home/anna/train.py", "<module>"}});
    trace.devices[0].allocations.stack[1] = stack;
    trace.devices[0].name = "NVIDIA A100-SXM4-80GB";
    trace.origins.push_back({"AddmmBackward0 > aten::mm", "Net.body.0", Phase::forward, "0/0", "", 0});
    trace.devices[0].allocations.origin[1] = 1;
    redact(trace, all);
    const auto frames = trace.stacks.frames_of(trace.devices[0].allocations.stack[1]);
    const auto text = [&](size_t i) {
        const Frame& frame = trace.stacks.frame(frames[i]);
        return trace.stacks.string(frame.file) + ' ' + trace.stacks.string(frame.function);
    };
    EXPECT_EQ(text(0), "site-packages/torch/nn/modules/module.py Module.cuda.<locals>.<lambda>");
    EXPECT_EQ(text(1), "/lib/python3.12/runpy.py _run_code");
    EXPECT_EQ(text(2), "site-packages/torch/optim/adam.py Adam.step");
    EXPECT_EQ(text(3).substr(0, 4), "file");
    EXPECT_EQ(text(3).substr(text(3).size() - 8), "<module>");
    EXPECT_EQ(trace.devices[0].name, "NVIDIA A100-SXM4-80GB");
    EXPECT_EQ(trace.origins[1].op, "AddmmBackward0 > aten::mm");
    EXPECT_EQ(trace.origins[1].module, "module1.module2.0");
    EXPECT_EQ(trace.origins[1].compile_context, "0/0");
}

bool is_library(std::string_view file) { return role_of_frame("f", file, 1) == FrameRole::library; }

TEST(Redaction, LibrariesStayLibraries) {
    Trace trace = test::sample_trace();
    Secrets secret;
    std::vector<StackId> stacks;
    const auto files = secret_files(secret);
    std::vector<bool> were_libraries;
    for (const std::string& file : files) {
        stacks.push_back(test::stack_of(trace.stacks, {{file, "f"}}));
        were_libraries.push_back(is_library(file));
    }
    for (size_t i = 0; i < files.size(); ++i) {
        Trace one = trace;
        one.devices[0].allocations.stack[1] = stacks[i];
        redact(one, all);
        const FrameId frame = one.stacks.site(one.devices[0].allocations.stack[1]);
        EXPECT_EQ(is_library(one.stacks.string(one.stacks.frame(frame).file)), were_libraries[i]) << files[i];
    }
}

TEST(Redaction, ReportsTheComputerAndNotWhatStays) {
    Trace trace = test::sample_trace();
    trace.devices[0].allocations.stack[1] =
        test::stack_of(trace.stacks, {{"/x/site-packages/torch/lib/libtorch_cuda.so", "acme::call()"}});
    trace.source = "recording of process 4711";
    trace.processes.resize(1);
    trace.processes[0].pid = 4711;
    trace.processes[0].place.node = "gpu-node-17";
    RedactionLog log;
    const AllowedTexts allowed = redact(trace, all, nullptr, &log);
    const std::vector<RemovedTexts> removed = log.removed(allowed);
    const auto of = [&](RemovedKind kind) {
        const auto found =
            std::find_if(removed.begin(), removed.end(), [&](const RemovedTexts& texts) { return texts.kind == kind; });
        return found == removed.end() ? std::string() : found->texts.front().before;
    };
    EXPECT_EQ(of(RemovedKind::host), "gpu-node-17");
    EXPECT_EQ(of(RemovedKind::free_text), "") << "the process ID of the source stays";
    const Frame& frame = trace.stacks.frame(trace.stacks.frames_of(trace.devices[0].allocations.stack[1]).front());
    EXPECT_EQ(trace.stacks.string(frame.file), "site-packages/torch/libtorch_cuda.so");
}

TEST(Redaction, RepeatedRangesKeepOneName) {
    Trace trace = test::sample_trace();
    trace.annotations[0].name = "epoch 17";
    trace.annotations[1].name = "epoch 18";
    trace.annotations[2].name = "evaluate";
    redact(trace, all);
    EXPECT_EQ(trace.annotations[0].name, "range_a.1");
    EXPECT_EQ(trace.annotations[1].name, "range_a.2");
    EXPECT_EQ(trace.annotations[2].name, "range_b");
}

TEST(Redaction, AttributesOfModulesMatchModulePaths) {
    Trace trace = test::sample_trace();
    trace.origins.push_back({"", "Net.layers.3", Phase::forward, "", "", 0});
    trace.devices[0].allocations.origin[1] = 1;
    test::GraphBuilder graph;
    graph.tables.scans = {{5000, ScanReason::end, 10, 100, 20}};
    graph.tables.referrers.push_back({0,
                                      no_node,
                                      {0, 1},
                                      {{PathLinkKind::local, graph.text("model"), 0, 0, 1},
                                       {PathLinkKind::attribute, graph.text("layers of Net"), 0, 0, 0},
                                       {PathLinkKind::attribute, graph.text("3 of Layers"), 0, 0, 0}}});
    const auto label = [&](const std::string& name) {
        graph.tables.labels.push_back({{0, 1}, 0, Category::parameter, graph.text(name)});
    };
    label("exp_avg of Net.layers.3.weight as Shard(dim=0)");
    label("Net.layers.3.weight as Shard(of=Anna)");
    redact(trace, all, &graph.tables);
    const auto written = [&](size_t l) { return graph.tables.texts[graph.tables.labels[l].name]; };
    EXPECT_EQ(written(0), "exp_avg of module1.module2.3.module3 as Shard(dim=0)");
    EXPECT_EQ(written(1), "module1.module2.3.module3");
    const std::vector<PathLink>& links = graph.tables.referrers[0].links;
    EXPECT_EQ(trace.origins[1].module, "module1.module2.3");
    EXPECT_EQ(graph.tables.texts[links[0].name], "variable1");
    EXPECT_EQ(graph.tables.texts[links[1].name], "module2 of module1");
    EXPECT_EQ(graph.tables.texts[links[2].name], "3 of module4");
}

/// A column that is added to the schema fails here until a rule decides what it may contain.
TEST(Redaction, EveryTextColumnOfTheSchemaHasARule) {
    const Folder folder;
    const std::string path = folder / "empty.tide";
    Progress progress;
    ASSERT_TRUE(write_trace(Trace{}, {}, path, IfExists::fail, progress));
    sqlite3* database = nullptr;
    ASSERT_EQ(sqlite3_open_v2(path.c_str(), &database, SQLITE_OPEN_READONLY, nullptr), SQLITE_OK);
    sqlite3_stmt* statement = nullptr;
    sqlite3_prepare_v2(database,
                       "SELECT t.name, c.name, c.type FROM pragma_table_list AS t, pragma_table_xinfo(t.name) AS c "
                       "WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite_%' AND c.type NOT IN ('INTEGER', 'REAL')",
                       -1, &statement, nullptr);
    int columns = 0;
    while (sqlite3_step(statement) == SQLITE_ROW) {
        const auto text = [&](int column) {
            return std::string(reinterpret_cast<const char*>(sqlite3_column_text(statement, column)));
        };
        EXPECT_TRUE(has_rule(text(0), text(1), text(2) == "BLOB")) << text(0) << '.' << text(1);
        ++columns;
    }
    EXPECT_GE(columns, 26);
    sqlite3_finalize(statement);
    sqlite3_close(database);
}

/// Puts a secret into each text column of a redacted file in turn.
TEST(RedactionCheck, FindsATextInAnyColumn) {
    const Folder folder;
    const std::string original = write_secret_trace(folder);
    Progress progress;
    const auto trace = open_trace(original, progress);
    ASSERT_TRUE(trace);
    auto graph = read_graph(**trace, progress);
    ASSERT_TRUE(graph);
    GraphTables tables = **graph;
    AllowedTexts allowed;
    const auto shared = prepare_to_share(**trace, {all, "", ""}, &tables, &allowed);
    ASSERT_TRUE(shared);
    const std::string path = folder / "shared.tide";
    ASSERT_TRUE(write_trace(*shared, peak_events(*shared), path, IfExists::fail, progress, &tables));
    ASSERT_TRUE(check_redacted_file(original, path, allowed, progress));
    const std::pair<const char*, const char*> places[] = {
        {"string.text", "UPDATE string SET text='zq7secret120' WHERE id=1"},
        {"meta.value", "UPDATE meta SET value='zq7secret101' WHERE key='source'"},
        {"meta.key", "INSERT INTO meta VALUES('zq7secret101', '1')"},
        {"process.command_line", "UPDATE process SET command_line='x'"},
        {"process.how_ended", "UPDATE process SET how_ended='exception: x'"},
        {"thread.name", "INSERT INTO thread VALUES(1, 1, 1, 'x')"},
        {"device.name", "UPDATE device SET name='x'"},
        {"device.uuid", "UPDATE device SET uuid='x'"},
        {"data_gap.arguments", "UPDATE data_gap SET arguments='{\"what\": \"x\"}'"},
        {"data_gap.text", "UPDATE data_gap SET text='x'"},
        {"step.source", "UPDATE step SET source='x'"},
        {"mark.name", "UPDATE mark SET name='x'"},
        {"path_link.kind", "UPDATE path_link SET kind='x'"},
        {"allocation_chunk.data", "UPDATE allocation_chunk SET data=CAST('zq7secret120' AS BLOB)"},
        {"the file outside its tables",
         "PRAGMA secure_delete=OFF; INSERT INTO meta VALUES('q', 'zq7secret101'); DELETE FROM meta WHERE key='q'"},
        {"more.text", "CREATE TABLE more(text TEXT) STRICT; INSERT INTO more VALUES('x')"},
    };
    for (const auto& [place, sql] : places) {
        const std::string changed = folder / "changed.tide";
        std::filesystem::copy_file(path, changed, std::filesystem::copy_options::overwrite_existing);
        execute(changed, sql);
        const Status status = check_redacted_file(original, changed, allowed, progress);
        ASSERT_FALSE(status) << place;
        const std::string sentence = status.error().sentence.english();
        EXPECT_NE(sentence.find(place), std::string::npos) << place << ": " << sentence;
        EXPECT_EQ(sentence.find("zq7"), std::string::npos);
    }
}

TEST(RedactionCheck, NoFileRemainsAfterAnError) {
    const Folder folder;
    const std::string original = write_secret_trace(folder);
    Progress progress;
    progress.canceled = true;
    EXPECT_FALSE(share_trace(original, folder / "shared.tide", {all, "", ""}, IfExists::fail, progress));
    progress.canceled = false;
    progress.report = [&](const char* phase, double) { progress.canceled = std::string(phase) == "checking"; };
    EXPECT_FALSE(share_trace(original, folder / "shared.tide", {all, "", ""}, IfExists::fail, progress));
    int files = 0;
    for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder / ".")) {
        ++files;
    }
    EXPECT_EQ(files, 1) << "the original only";
}

TEST(LeakSearch, FindsWordsInAnyCaseAndPlace) {
    LeakSearch search;
    search.add("/home/Annabelle/very_secret thing");
    search.add("Überraschung");
    search.add("short 12345678");
    search.prepare();
    EXPECT_TRUE(search.finds_any("xxANNABELLExx"));
    EXPECT_TRUE(search.finds_any("very_secret"));
    EXPECT_TRUE(
        search.finds_any(std::string("\0\0\xc3\x9c"
                                     "berraschung",
                                     15)));
    EXPECT_FALSE(search.finds_any("annabell very_secre 12345678 short thing"));
    search.except("say annabelle");
    EXPECT_FALSE(search.finds_any("annabelle"));
    EXPECT_TRUE(search.finds_any("annabelle very_secret"));
}

TEST(LeakSearch, FindsEachOfManyWordsThatBeginAlike) {
    LeakSearch search;
    std::vector<std::string> words;
    for (int i = 0; i < 3000; ++i) {
        words.push_back("beginning_" + std::to_string(i) + "x");
        search.add(words.back());
    }
    search.add("beginning_");
    search.prepare();
    EXPECT_TRUE(search.finds_any("beginning_"));
    search.except("beginning_");
    EXPECT_FALSE(search.finds_any("beginning_3000x beginning_12"));
    for (const std::string& word : words) {
        EXPECT_TRUE(search.finds_any("--" + word)) << word;
    }
}

TEST(PublicNames, ExtensionModulesOfBothProcessorsArePublic) {
    EXPECT_TRUE(public_file("/env/site-packages/torch/_C.cpython-312-x86_64-linux-gnu.so"));
    EXPECT_TRUE(public_file("/env/site-packages/torch/_C.cpython-312-aarch64-linux-gnu.so"));
    EXPECT_FALSE(public_file("/env/site-packages/torch/_C.cpython-312-secret-linux-gnu.so"));
    EXPECT_FALSE(public_file("/env/site-packages/torch/_C.cpython-3secret-aarch64-linux-gnu.so"));
}

TEST(PublicNames, AreClosedLists) {
    EXPECT_TRUE(is_public_library("libcudart.so.12"));
    EXPECT_TRUE(is_public_library("libcublasLt.so.13"));
    EXPECT_FALSE(is_public_library("libcustom_kernels.so"));
    EXPECT_FALSE(is_public_library("libcublas_secret.so"));
    EXPECT_FALSE(is_public_library("libcublas.so.secret"));
    EXPECT_TRUE(is_public_op("aten::addmm"));
    EXPECT_FALSE(is_public_op("aten::addmm_secret"));
    EXPECT_FALSE(is_public_op("myorg::addmm"));
    EXPECT_TRUE(is_public_node("torch::autograd::AccumulateGrad"));
    EXPECT_FALSE(is_public_node("SecretModelBackward"));
    EXPECT_FALSE(is_public_node("SecretBackward0"));
    EXPECT_TRUE(is_public_symbol("at::_ops::addmm::call"));
    EXPECT_FALSE(is_public_symbol("merge request"));
    EXPECT_FALSE(is_public_symbol("acme::addmm"));
    EXPECT_TRUE(are_public_placements("Shard(dim=0), Replicate()"));
    EXPECT_TRUE(are_public_placements("_StridedShard(dim=1, sf=2), Partial(sum)"));
    EXPECT_FALSE(are_public_placements("Shard(dim=secret)"));
    EXPECT_FALSE(are_public_placements(""));
    EXPECT_TRUE(is_public_device("NVIDIA H200"));
    EXPECT_TRUE(is_public_device("NVIDIA GeForce RTX 4090"));
    EXPECT_FALSE(is_public_device("NVIDIA gpu-node-17.acme.corp"));
    EXPECT_FALSE(is_public_device("H200 of Anna"));
    EXPECT_TRUE(is_public_setting_value("\"expandable_segments:True,max_split_size_mb:128\""));
    EXPECT_TRUE(is_public_setting_value("{\"1\": 0, \"32768\": 8}"));
    EXPECT_FALSE(is_public_setting_value("\"expandable_segments:Secret\""));
    EXPECT_FALSE(public_file("/home/anna/torch/nn/functional.py"));
    EXPECT_FALSE(public_file("/x/site-packages/torchvision_secret/ops.py"));
    EXPECT_EQ(public_file("/x/dist-packages/torch/nn/functional.py"), "site-packages/torch/nn/functional.py");
    EXPECT_EQ(public_file("<frozen importlib._bootstrap>"), "<frozen importlib._bootstrap>");
}

}  // namespace
}  // namespace tidemark
