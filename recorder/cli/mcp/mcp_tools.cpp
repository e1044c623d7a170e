// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/cli/mcp/mcp_tools.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "storage/attribution/attribution.h"

namespace tidemark::cli {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr int64_t most_rows = 1000;  ///< of "limit"; 0, which means all in commands, is no value

const McpParameter trace{"trace", "string",
                         nullptr, "A trace (.tide) as list_traces names it, or the trace of a rank: run.tidejob:3",
                         true,    true};
const McpParameter trace_or_job{
    "trace",
    "string",
    nullptr,
    "A trace (.tide) as list_traces names it, the folder of a job (run.tidejob), or a rank of it: run.tidejob:3",
    true,
    true};
const McpParameter device{"device", "integer", "--device", "PyTorch's index of the device (default: all devices)"};

McpParameter at(const char* option, const char* description) { return {"at", "string", option, description}; }

const McpParameter at_peak =
    at("--at", "The point in time: event:N, time:1.5s, mark:NAME, step:N, step:N:peak, peak or end (default: peak)");
const McpParameter at_end =
    at("--at", "The point in time: event:N, time:1.5s, mark:NAME, step:N, step:N:peak, peak or end (default: end)");
const McpParameter at_explained = at(
    "--at",
    "The point in time to explain: event:N, time:1.5s, mark:NAME, step:N, peak or end (default: the end of the work)");
const McpParameter from{"from", "string", "--from", "Only iterations after this point in time count, as in `at`"};

McpParameter limit(const char* description) { return {"limit", "integer", "--limit", description}; }

McpParameter by() { return {"by", "string", "--by", "How to group: " + group_by_names()}; }

}  // namespace

std::vector<McpTool> mcp_tools() {
    return {
        {"list_traces",
         nullptr,
         "Lists the traces that can be read, with sizes and times. Paths in other tools are as here.",
         {},
         McpShape::files},
        {"explain",
         "explain",
         "Explains why GPU memory of a PyTorch program went up and was not freed: a summary, where the memory is, and "
         "findings, "
         "the most serious first. Each finding has an id for the tool `finding`, bytes, the responsible line, the "
         "referrer that retains "
         "the memory, a fix, and the ids of its evidence: events (`at`: event:N), allocations and nodes (tool "
         "`graph`). Of a job, "
         "explains what its ranks share and who differs.",
         {trace_or_job, at_explained, from, device},
         McpShape::findings},
        {"finding",
         "explain",
         "Returns one finding of `explain` in full: its text, evidence, retention path from a variable to the memory, "
         "stack, source line, "
         "fixes with diffs, and what is unknown.",
         {trace,
          {"id", "string", "", "The id that `explain` gave the finding: DEVICE:POSITION, such as 0:2", true},
          at_explained,
          from},
         McpShape::finding},
        {"info",
         "info",
         "Returns the origin and content of a trace: program, device, steps, events, and its data gaps.",
         {trace}},
        {"top",
         "top",
         "Returns the groups of allocations that occupy GPU memory at a point in time, most bytes first.",
         {trace_or_job, at_peak, by(), limit("Number of groups (default: 20)"), device}},
        {"breakdown",
         "breakdown",
         "Returns the components of GPU memory at a point in time, from requested bytes to the figure of nvidia-smi: "
         "rounding, fragmentation, cache, libraries, context, other processes.",
         {trace, at_peak, device}},
        {"diff",
         "diff",
         "Compares the memory of two traces, or two points in time of one trace: which groups grew, which are new.",
         {{"a", "string", nullptr, "The first trace", true, true},
          {"b", "string", nullptr, "The second trace (default: the first)", false, true},
          {"at_a", "string", "--at-a", "The point in time of a (default: peak)"},
          {"at_b", "string", "--at-b", "The point in time of b (default: peak)"},
          {"steps", "string", "--steps",
           "Compare the end of step K of a with that of step N of b, as K:N; instead of at_a and at_b. "
           "Without recorded steps, K and N are iterations"},
          by(),
          limit("Number of groups (default: 20)"),
          {"device", "integer", "--device", "The device (default: the one with the most events)"}}},
        {"source",
         "source",
         "Without `file`, lists the program's source files with their bytes. With it, returns the recorded lines of "
         "the file with the "
         "bytes of each: active at the point in time, allocated in the whole run, leaked.",
         {trace,
          {"file", "string", nullptr, "A file, as the list names it, or the end of its name"},
          at_peak,
          limit("Number of files (default: 20)"),
          {"device", "integer", "--device", "The device (default: the one with the most events)"}},
         McpShape::whole,
         {"--recorded"}},
        {"graph",
         "graph",
         "Returns the live autograd graphs at a point in time, the memory that they retain, and their referrers. With "
         "`allocation`: what "
         "retains it and what would free it. With `node`: one node. With `root`: what is reachable from it.",
         {trace,
          at_end,
          {"allocation", "string", "--alloc", "The id of an allocation, as evidence has it"},
          {"node", "integer", "--node", "The id of a node"},
          {"root", "integer", "--root", "The id of a root, or of any other live node"},
          limit("Number of rows per list (default: 20)")}},
        {"referrers",
         "referrers",
         "Returns what a heap scan found to retain tensors and their autograd graphs: variables, attributes, list "
         "elements.",
         {trace,
          at("--at",
             "The heap scan: latest, scan:N, or the last one before event:N, time:T, mark:NAME, step:N, peak or end "
             "(default: latest)"),
          limit("Number of referrers (default: 20)")}},
        {"query_tables",
         "query",
         "Returns the views and tables of traces with their columns, for `query`.",
         {},
         McpShape::whole,
         {"--tables"}},
        {"query",
         "query",
         "Queries a trace with one SELECT of SQLite's SQL. Reads nothing else and changes nothing. Times are "
         "nanoseconds since the start "
         "of the trace, sizes bytes.",
         {trace, {"sql", "string", nullptr, "The query", true}, limit("Number of rows (default: as many as fit)")}},
    };
}

namespace {

bool is_not_passed(const McpParameter& parameter) { return parameter.option != nullptr && *parameter.option == '\0'; }

ordered_json schema_of(const McpTool& tool) {
    ordered_json properties = ordered_json::object();
    auto required = ordered_json::array();
    for (const McpParameter& parameter : tool.parameters) {
        ordered_json& property =
            properties[parameter.name] = {{"type", parameter.type}, {"description", parameter.description}};
        if (std::string_view(parameter.name) == "limit") {
            property["minimum"] = 1;
            property["maximum"] = most_rows;
        }
        if (parameter.is_required) {
            required.push_back(parameter.name);
        }
    }
    return {{"type", "object"},
            {"properties", std::move(properties)},
            {"required", std::move(required)},
            {"additionalProperties", false}};
}

Status check_value(const McpParameter& parameter, const json& value) {
    const bool is_text = std::string_view(parameter.type) == "string";
    if (is_text ? !value.is_string() : !value.is_number_integer()) {
        return usage_error("The argument {name} is no {type}.", with("name", parameter.name),
                           with("type", parameter.type));
    }
    if (is_text && value.get_ref<const std::string&>().find('\0') != std::string::npos) {
        return usage_error("The argument {name} has a character with the code 0.", with("name", parameter.name));
    }
    if (std::string_view(parameter.name) == "limit" && (value < 1 || value > most_rows)) {
        return usage_error("The argument limit is not between 1 and {most}.", with("most", most_rows));
    }
    return {};
}

}  // namespace

ordered_json describe_tool(const McpTool& tool) {
    return {{"name", tool.name},
            {"description", tool.description},
            {"inputSchema", schema_of(tool)},
            {"annotations", {{"readOnlyHint", true}, {"openWorldHint", false}}}};
}

Status check_arguments(const McpTool& tool, const json& arguments) {
    for (const auto& [name, value] : arguments.items()) {
        const bool is_known = std::any_of(tool.parameters.begin(), tool.parameters.end(),
                                          [&](const McpParameter& parameter) { return parameter.name == name; });
        if (!is_known) {
            return usage_error("The tool {tool} has no argument {name}.", with("tool", tool.name), with("name", name));
        }
    }
    for (const McpParameter& parameter : tool.parameters) {
        const auto value = arguments.find(parameter.name);
        if (value == arguments.end() && parameter.is_required) {
            return usage_error("The tool {tool} needs the argument {name}.", with("tool", tool.name),
                               with("name", parameter.name));
        }
        if (value != arguments.end()) {
            TIDEMARK_TRY(check_value(parameter, *value));
        }
    }
    return {};
}

Result<Arguments> command_of(const McpTool& tool, const json& arguments, const McpFiles& files) {
    TIDEMARK_TRY(check_arguments(tool, arguments));
    Arguments command{tool.command, "--format=json"}, places;
    command.insert(command.end(), tool.flags.begin(), tool.flags.end());
    for (const McpParameter& parameter : tool.parameters) {
        const auto value = arguments.find(parameter.name);
        if (value == arguments.end() || is_not_passed(parameter)) {
            continue;
        }
        std::string text = value->is_string() ? value->get<std::string>() : value->dump();
        if (parameter.is_trace) {
            const auto path = files.find(text);
            if (!path) {
                return path.error();
            }
            text = *path;
        }
        if (parameter.option == nullptr) {
            places.push_back(std::move(text));
        } else {
            command.push_back(std::string(parameter.option) + '=' + text);
        }
    }
    command.emplace_back("--");
    command.insert(command.end(), places.begin(), places.end());
    return command;
}

}  // namespace tidemark::cli
