// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// How the names of Tidemark's files end.
#pragma once

#include <string_view>

namespace tidemark {

constexpr std::string_view trace_extension = ".tide";
/// A folder with one trace for each process of a job: see storage/job/JOBS.md.
constexpr std::string_view job_extension = ".tidejob";

}  // namespace tidemark
