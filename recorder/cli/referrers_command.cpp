// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// tidemark referrers: the referrers that a heap scan found for tensors and their graphs.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <unordered_set>

#include "recorder/cli/command.h"
#include "recorder/cli/describe.h"
#include "recorder/cli/graph/graph_view.h"
#include "recorder/cli/output.h"
#include "storage/base/parse_number.h"
#include "storage/text/fact_words.h"
#include "storage/text/referrer_words.h"

namespace tidemark::cli {
namespace {

using nlohmann::ordered_json;

struct ReferrersOptions {
    std::string trace, at = "latest";
    std::string format = "text";
    size_t limit = 20;  ///< 0: all
    bool all = false;
};

/// The result of one heap scan.
struct Page {
    Page(const Graph& graph, size_t number, bool all);

    const GraphTables& tables() const { return state.index().tables(); }

    size_t number;  ///< of the scan, from 0
    const HeapScan& scan;
    GraphState state;
    ReferrerIndex referrers;
    std::vector<ReferrerGroup> groups;
    size_t without_graph = 0;  ///< number of omitted groups, whose tensors have no graph
    std::unordered_set<NodeIndex> roots;
};

Page::Page(const Graph& graph, size_t n, bool all)
    : number(n),
      scan(graph.tables().scans[n]),
      state(graph.index, graph.categories, scan.time),
      referrers(graph.index, scan.time),
      groups(referrer_groups(state, referrers)),
      roots(state.roots().begin(), state.roots().end()) {
    if (!all) {
        without_graph = std::erase_if(groups, [](const ReferrerGroup& group) { return group.nodes == 0; });
    }
}

/// The type of nodes that created tensors of a group. Roots and other nodes are separate.
struct CreatedBy {
    std::string type;
    bool is_root = false;
    int64_t count = 0;
};

std::vector<CreatedBy> created_by(const Page& page, const ReferrerGroup& group) {
    std::map<std::pair<uint32_t, bool>, int64_t> counts;
    for (const uint32_t h : group.referrers) {
        const NodeIndex node = page.tables().referrers[h].node;
        if (node != no_node && page.state.is_alive(node)) {
            ++counts[{page.tables().nodes.type[node], page.roots.contains(node)}];
        }
    }
    std::vector<CreatedBy> creators;
    for (const auto& [key, count] : counts) {
        creators.push_back({page.tables().texts[key.first], key.second, count});
    }
    std::stable_sort(creators.begin(), creators.end(),
                     [](const CreatedBy& a, const CreatedBy& b) { return a.count > b.count; });
    return creators;
}

/// "100 tensors, 100 graph roots SumBackward0"
std::string tensors_text(const Words& words, const Page& page, const ReferrerGroup& group) {
    std::string text = words.plural(group.count, "{n} tensor", "{n} tensors");
    for (const CreatedBy& creator : created_by(page, group)) {
        const auto type = with("type", creator.type);
        text += words(", ") +
                (creator.is_root ? words.plural(creator.count, "{n} graph root {type}", "{n} graph roots {type}", type)
                                 : words.plural(creator.count, "{n} node {type}", "{n} nodes {type}", type));
    }
    return text;
}

std::string group_text(const Words& words, const Page& page, const ReferrerGroup& group) {
    return fmt::format("{:>10}  {:>10}  {:>9}  {}\n{:35}{}\n", format_bytes(group.reachable_bytes),
                       format_bytes(group.freed_bytes), format_count(group.nodes),
                       visible_text(path_words(page.tables(), words, group)), "",
                       visible_text(tensors_text(words, page, group)));
}

/// "scan 2 of 2, at 12.345678 s (end): 1,234 objects in 12.3 ms, 200 tensors"
std::string scan_text(const Words& words, const GraphTables& tables, size_t number) {
    const HeapScan& scan = tables.scans[number];
    return words("scan {number} of {all}, at {time} ({reason}): {objects} in {duration}, {tensors}",
                 with("number", number + 1), with("all", tables.scans.size()),
                 with("time", format_time_point(scan.time)), with("reason", scan_reason_words(words, scan.reason)),
                 with("objects", words.plural(scan.objects, "{n} object", "{n} objects")),
                 with("duration", format_duration(scan.duration)),
                 with("tensors", words.plural(scan.tensors, "{n} tensor", "{n} tensors")));
}

std::string page_text(const Words& words, const Page& page, size_t limit) {
    std::string text;
    for (size_t scan = 0; scan < page.tables().scans.size(); ++scan) {
        text += fmt::format("{} {}\n", scan == page.number ? "*" : " ",
                            visible_text(scan_text(words, page.tables(), scan)));
    }
    if (page.groups.empty()) {
        text += words("No referrer of a graph was found.") + '\n';
    } else {
        text += fmt::format("\n{:>10}  {:>10}  {:>9}  {}\n", words("Reachable"), words("Retained"), words("Nodes"),
                            words("Retained by"));
    }
    const size_t shown = limited(page.groups.size(), limit);
    for (size_t g = 0; g < shown; ++g) {
        text += group_text(words, page, page.groups[g]);
    }
    text += rest_text(words, page.groups.size() - shown, 35);
    if (page.without_graph > 0) {
        text += words.plural(static_cast<int64_t>(page.without_graph),
                             "{n} referrer of tensors without an autograd graph is not shown; --all shows it.",
                             "{n} referrers of tensors without an autograd graph are not shown; --all shows them.") +
                '\n';
    }
    return text;
}

ordered_json scan_json(const GraphTables& tables, size_t number) {
    const HeapScan& scan = tables.scans[number];
    return {{"scan", number + 1},           {"time_ns", scan.time},    {"reason", word_of(scan.reason)},
            {"duration_ns", scan.duration}, {"objects", scan.objects}, {"tensors", scan.tensors}};
}

ordered_json group_json(const Words& words, const Graph& graph, const Page& page, const ReferrerGroup& group) {
    auto created = ordered_json::array(), nodes = ordered_json::array(), allocations = ordered_json::array();
    for (const CreatedBy& by : created_by(page, group)) {
        created.push_back({{"type", by.type}, {"is_root", by.is_root}, {"count", by.count}});
    }
    for (const uint32_t h : group.referrers) {
        const Referrer& referrer = page.tables().referrers[h];
        if (referrer.node != no_node) {
            nodes.push_back(page.tables().nodes.id[referrer.node]);
        }
        if (referrer.allocation) {
            const DeviceHistory& device = graph.trace().devices[referrer.allocation.device];
            allocations.push_back(device.allocation_id(referrer.allocation.index));
        }
    }
    return {{"text", path_words(page.tables(), words, group)},
            {"links", links_json(page.tables(), group.links)},
            {"varying_link", or_null(group.varying)},
            {"first_index", group.varying ? ordered_json(group.first_index) : ordered_json()},
            {"last_index", group.varying ? ordered_json(group.last_index) : ordered_json()},
            {"tensors", group.count},
            {"graph_nodes", group.nodes},
            {"reachable_bytes", group.reachable_bytes},
            {"retained_bytes", group.freed_bytes},
            {"created_by", std::move(created)},
            {"nodes", std::move(nodes)},
            {"allocations", std::move(allocations)}};
}

ordered_json page_json(const Words& words, const Graph& graph, const Page& page, size_t limit) {
    auto scans = ordered_json::array(), groups = ordered_json::array();
    for (size_t scan = 0; scan < page.tables().scans.size(); ++scan) {
        scans.push_back(scan_json(page.tables(), scan));
    }
    const size_t shown = limited(page.groups.size(), limit);
    for (size_t g = 0; g < shown; ++g) {
        groups.push_back(group_json(words, graph, page, page.groups[g]));
    }
    return {{"scans", std::move(scans)},
            {"scan", page.number + 1},
            {"groups", std::move(groups)},
            {"groups_left_out", page.groups.size() - shown},
            {"groups_without_graph", page.without_graph}};
}

Error never_scanned_error(const Trace& trace) {
    return input_error(
        "{path}: there was no heap scan of this program. A recording with the part graph scans the heap at the "
        "end, when memory runs out and whenever the program calls tidemark.referrers().",
        with("path", trace.path));
}

/// Returns the last scan that found referrers. The last scan of all may find none, because variables of functions are
/// destroyed when the program ends.
size_t last_with_referrers(const GraphTables& tables) {
    return tables.referrers.empty() ? tables.scans.size() - 1 : tables.referrers.back().scan;
}

/// Finds a scan by number, "scan:2", the last one before a point in time, or "latest": the last with referrers.
Result<size_t> find_scan(const Graph& graph, std::shared_ptr<const Trace> trace, const ReferrersOptions& options) {
    constexpr std::string_view form = "scan:";
    const auto& scans = graph.tables().scans;
    if (options.at == "latest") {
        return last_with_referrers(graph.tables());
    }
    if (options.at.starts_with(form)) {
        const auto number = parse_number<size_t>(std::string_view(options.at).substr(form.size()));
        if (!number || *number < 1 || *number > scans.size()) {
            return usage_error("There is no \"{scan}\": this trace has scan:1 to scan:{last}.",
                               with("scan", options.at), with("last", scans.size()));
        }
        return *number - 1;
    }
    const auto time_point = main_time_point(std::move(trace), {options.trace, options.at, std::nullopt});
    if (!time_point) {
        return time_point.error();
    }
    const HeapScan* scan = ReferrerIndex(graph.index, time_point->time()).scan();
    return static_cast<size_t>(scan - scans.data());
}

Status run_referrers(const ReferrersOptions& options, const Words& words, Progress& progress) {
    const auto trace = open_input(options.trace, progress);
    if (!trace) {
        return trace.error();
    }
    const auto graph = read_whole_graph(*trace, progress);
    if (!graph) {
        return graph.error();
    }
    if (*graph == nullptr) {
        return no_graph_error(**trace);
    }
    if ((*graph)->tables().scans.empty()) {
        return never_scanned_error(**trace);
    }
    const auto number = find_scan(**graph, *trace, options);
    if (!number) {
        return number.error();
    }
    const Page page(**graph, *number, options.all);
    return options.format == "json" ? print_json(page_json(words, **graph, page, options.limit))
                                    : print(page_text(words, page, options.limit));
}

}  // namespace

void add_referrers_command(CommandLine& line) {
    const Words& words = line.words;
    auto options = std::make_shared<ReferrersOptions>();
    CLI::App& command = add_command(
        line, "referrers",
        {words("Show the referrers that retain tensors and their autograd graphs"),
         words("Shows the result of a heap scan: variables, attributes, list elements and other referrers, grouped\n"
               "if only an index differs. Reachable is the memory of the tensors and of everything that their\n"
               "graphs saved; retained is the part that is freed if the referrer releases them."),
         "  tidemark referrers run.tide\n"
         "  tidemark referrers run.tide --at scan:1 --all --format json"});
    add_trace_option(line, command, options->trace);
    command
        .add_option("--at", options->at,
                    words("The heap scan: latest (the last one with referrers), scan:N, or the last one before "
                          "event:N, time:T, mark:NAME, step:N, peak or end"))
        ->capture_default_str();
    add_limit_option(command, words, words("Number of referrers to show; 0 shows all"), options->limit);
    command.add_flag("--all", options->all, words("Also show referrers of tensors without an autograd graph"));
    add_format_option(command, words("Output format"), options->format, {"text", "json"});
    set_work(line, command, [options, words](Progress& progress) { return run_referrers(*options, words, progress); });
}

}  // namespace tidemark::cli
