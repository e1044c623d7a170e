// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The Model Context Protocol: JSON-RPC 2.0, one message a line. Knows no transport.
#pragma once

#include <chrono>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "recorder/cli/mcp/mcp_files.h"
#include "recorder/cli/mcp/mcp_tools.h"
#include "storage/text/words.h"

namespace tidemark::cli {

struct McpLimits {
    size_t bytes = 40'000;  ///< of a result
    int seconds = 120;      ///< of a call
};

class McpServer {
public:
    McpServer(McpFiles files, const McpLimits& limits, const Words& words)
        : files_(std::move(files)), limits_(limits), words_(words), tools_(mcp_tools()) {}

    /// Returns the answer to a message, without a line break; nothing for a notification. A call of a tool lasts until
    /// its command ends.
    std::optional<std::string> answer(std::string_view line) const;
    /// Returns the answer to a line that was too long to be read.
    static std::string refuse_long_line(size_t most);

private:
    /// Returns the result of a request, or sets `error` to {"code", "message"}.
    nlohmann::ordered_json call(const std::string& method, const nlohmann::json& parameters,
                                nlohmann::ordered_json& error) const;
    nlohmann::ordered_json list_tools() const;
    nlohmann::ordered_json call_tool(const McpTool& tool, const nlohmann::json& arguments) const;
    /// Runs the command of a tool in a process of its own: a damaged trace may need all memory that it is allowed to
    /// take. Errors: wrong arguments, too slow, too long.
    Result<Captured> run_command(const McpTool& tool, const nlohmann::json& arguments) const;

    const McpFiles files_;
    const McpLimits limits_;
    const Words words_;
    const std::vector<McpTool> tools_;
};

}  // namespace tidemark::cli
