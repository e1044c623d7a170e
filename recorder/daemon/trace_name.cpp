// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/daemon/trace_name.h"

#include <fmt/format.h>

#include <algorithm>

#include "recorder/core/environment.h"
#include "storage/trace/file_extensions.h"

namespace tidemark::recorder {
namespace {

/// Inserts text before the extension: "run.tide" becomes "run.MIDDLE.tide".
std::string with_middle(const std::string& output, const std::string& middle) {
    const bool has_extension = output.size() > trace_extension.size() && output.ends_with(trace_extension);
    const std::string stem = has_extension ? output.substr(0, output.size() - trace_extension.size()) : output;
    return fmt::format("{}.{}{}", stem, middle, trace_extension);
}

}  // namespace

bool is_job_folder(const std::string& output) { return output.ends_with(job_extension); }

std::string name_in_job(const std::string& folder, const JobPlace& place, pid_t program) {
    std::string node = place.node.empty() ? "node" : place.node;
    std::replace_if(
        node.begin(), node.end(), [](char c) { return c == '/' || static_cast<unsigned char>(c) < ' '; }, '_');
    const std::string rank = place.rank ? fmt::format("rank{}-", *place.rank) : "";
    return fmt::format("{}/{}{}-{}{}", folder, rank, node, program, trace_extension);
}

std::string name_with_rank(const std::string& output, int64_t rank, pid_t program) {
    return with_middle(output, fmt::format("rank{}-{}", rank, program));
}

std::string claim_name(const std::string& output, const SessionFolder& session, pid_t program, pid_t parent,
                       bool has_used_gpu) {
    const bool is_program_of_session = environment("TIDEMARK_STARTER") == fmt::to_string(parent);
    const bool may_claim = has_used_gpu || is_program_of_session || session.is_ending();
    return may_claim && session.claim_first_name() ? output : with_middle(output, fmt::to_string(program));
}

}  // namespace tidemark::recorder
