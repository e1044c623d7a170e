// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The tools of `tidemark mcp`. Each is a command with --format json, and a choice of its options.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "recorder/cli/mcp/mcp_files.h"
#include "recorder/cli/program.h"

namespace tidemark::cli {

struct McpParameter {
    const char* name;
    const char* type;    ///< of JSON Schema: "string" or "integer"
    const char* option;  ///< of the command: "--at"; nullptr: its next argument; "": not for the command
    std::string description;
    bool is_required = false;
    bool is_trace = false;  ///< the value is the name of a trace
};

/// What of the command's JSON is the result.
enum class McpShape : uint8_t {
    whole,
    findings,  ///< of `explain`, each finding without its details
    finding,   ///< of `explain`, one finding
    files,     ///< no command: the list of traces
};

struct McpTool {
    const char* name;
    const char* command;
    const char* description;
    std::vector<McpParameter> parameters;
    McpShape shape = McpShape::whole;
    std::vector<std::string> flags = {};  ///< of the command, always
};

std::vector<McpTool> mcp_tools();

/// Returns the description of a tool for tools/list.
nlohmann::ordered_json describe_tool(const McpTool& tool);

/// Returns an error (usage) if an argument is missing, unknown or of a wrong type.
Status check_arguments(const McpTool& tool, const nlohmann::json& arguments);

/// Returns the arguments of the command. Errors (usage): those of check_arguments(); one names a file that may not be
/// read.
Result<Arguments> command_of(const McpTool& tool, const nlohmann::json& arguments, const McpFiles& files);

}  // namespace tidemark::cli
