// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The heat map of a job in its HTML report: that of the window.
#pragma once

#include <string>

#include "storage/report/job_report.h"

namespace tidemark {

/// Returns a row per process, time from left to right, color for allocated bytes; "" if no process used a GPU. Shows
/// the first 256 processes.
std::string job_heat_map(const JobReportInput& reported, const Words& words);

}  // namespace tidemark
