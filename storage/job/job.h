// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// A job: the traces of all its processes, in one folder. JOBS.md in this folder describes it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "storage/base/progress.h"
#include "storage/base/result.h"
#include "storage/job/process_summary.h"
#include "storage/text/words.h"

namespace tidemark {

/// One process of the job.
struct JobMember {
    std::string path;                       ///< of its trace
    std::optional<ProcessSummary> summary;  ///< nothing: see `failure`
    std::optional<Error> failure;           ///< why the trace cannot be read

    /// Returns whether it is the process of a rank, not a child of it.
    bool is_rank() const { return has_rank && summary.has_value(); }
    std::optional<int64_t> rank() const { return has_rank ? summary->place.rank : std::nullopt; }
    const DeviceSummary* device() const { return summary ? summary->main_device() : nullptr; }

    bool has_rank = false;
    /// Whether the trace is being recorded, also one that has no device yet and therefore no summary.
    bool is_being_recorded = false;
};

/// Returns "rank 3", "rank 3, DataLoader worker", "VLLM::Worker_TP1", "process 4711 on node2", or the name of the file
/// if the trace does not know its process.
std::string member_name(const JobMember& member, const Words& words);

struct Job {
    std::string folder;
    std::vector<JobMember> members;         ///< ranks first, ascending; those without a summary last
    std::vector<std::string> replaced;      ///< traces of ranks that began again later, as after a failure
    std::vector<int64_t> missing_ranks;     ///< below the number of ranks that the processes know
    std::map<std::string, int64_t> clocks;  ///< by node: how far its clock is ahead of the first rank's, ns

    /// Returns the members that are ranks; they come first.
    std::vector<const JobMember*> ranks() const;
    /// Returns the time of a member's trace on the clock of the first rank, ns since 1970.
    int64_t job_time(const JobMember& member, int64_t time) const;
    /// Returns the first and the last time of all traces on that clock; the same twice without any.
    std::pair<int64_t, int64_t> span() const;
};

/// Returns whether the path is a folder with traces.
bool is_job(const std::string& path);

/// Returns the traces in a folder, sorted by name.
std::vector<std::string> traces_in(const std::string& folder);

/// Returns the trace of a rank. Reads no summary if one trace has the rank in its name, as recorders write it, those of
/// such traces if several have, and otherwise all. Error (usage): there is none.
Result<std::string> find_trace_of_rank(const std::string& folder, int64_t rank, Progress& progress);

/// Reads the summary of a trace of a job, or makes it, and writes it if the trace has a rank or the folder is a
/// *.tidejob. Thread: any.
JobMember read_member(const std::string& path, Progress& progress);

/// Deletes a trace of a job and its summary, unless the trace is being written (usage).
Status remove_from_job(const std::string& trace);

/// Reads the summary of each trace, and makes those that are missing or older than their trace: about a second for 10
/// million events. They are kept as of read_member() if the folder can be written. A trace that cannot be read is
/// a member with an error. Errors: no folder, no traces in it (input); canceled. Uses up to four threads.
Result<Job> open_job(const std::string& folder, Progress& progress);

}  // namespace tidemark
