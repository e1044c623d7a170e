// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/job/job.h"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <iterator>
#include <mutex>
#include <set>
#include <thread>
#include <tuple>

#include "storage/job/clocks.h"
#include "storage/job/summarize.h"
#include "storage/job/summary_file.h"
#include "storage/read/follow.h"
#include "storage/trace/file_extensions.h"
#include "storage/write/old_trace.h"

namespace tidemark {
namespace {

namespace fs = std::filesystem;

constexpr unsigned most_threads = 4;

std::vector<JobMember> read_members(const std::vector<std::string>& paths, Progress& progress) {
    std::vector<JobMember> members(paths.size());
    std::atomic<size_t> next = 0, done = 0;
    std::mutex reporting;
    const auto work = [&] {
        for (size_t i = next++; i < paths.size() && !progress.canceled; i = next++) {
            Progress of_one;
            members[i] = read_member(paths[i], of_one);
            const std::lock_guard lock(reporting);
            progress.report("job", static_cast<double>(++done) / static_cast<double>(paths.size()));
        }
    };
    std::vector<std::thread> threads;
    const auto wanted =
        std::min<size_t>(paths.size(), std::clamp(std::thread::hardware_concurrency(), 1U, most_threads));
    for (size_t i = 1; i < wanted; ++i) {
        threads.emplace_back(work);
    }
    work();
    for (std::thread& thread : threads) {
        thread.join();
    }
    return members;
}

bool is_trace_name(const fs::directory_entry& entry) { return entry.path().extension() == trace_extension; }

/// Returns whether a recorder gives such a name to a trace of this rank: "rank3-node1-4711.tide",
/// "run.rank3-4711.tide".
bool names_rank(const std::string& name, int64_t rank) {
    const std::string word = "rank" + std::to_string(rank);
    const size_t at = name.starts_with(word) ? 0 : name.find("." + word);
    const size_t end = at == 0 ? word.size() : at + 1 + word.size();
    return at != name.npos && end < name.size() && (name[end] == '-' || name[end] == '.');
}

int64_t end_of(const ProcessSummary& summary) { return summary.start_utc_ns + summary.duration; }

int64_t events_of(const JobMember& member) { return member.device() == nullptr ? 0 : member.device()->events; }

/// Of the traces with one rank, the process of the rank is the last one that began after the others had ended; of those
/// that ran at the same time, the one with most events. The others are its children.
void find_rank(Job& job, std::vector<JobMember*> same) {
    std::sort(same.begin(), same.end(), [](const JobMember* a, const JobMember* b) {
        return a->summary->start_utc_ns < b->summary->start_utc_ns;
    });
    std::vector<JobMember*> together;
    for (JobMember* member : same) {
        const bool is_later = !together.empty() && std::all_of(together.begin(), together.end(), [&](JobMember* other) {
            return end_of(*other->summary) <= member->summary->start_utc_ns;
        });
        if (is_later) {
            for (const JobMember* old : together) {
                job.replaced.push_back(old->path);
            }
            together.clear();
        }
        together.push_back(member);
    }
    const auto main = std::max_element(together.begin(), together.end(), [](const JobMember* a, const JobMember* b) {
        return std::tuple(a->summary->place.role.empty(), events_of(*a)) <
               std::tuple(b->summary->place.role.empty(), events_of(*b));
    });
    (*main)->has_rank = true;
}

void find_ranks(Job& job) {
    std::map<int64_t, std::vector<JobMember*>> by_rank;
    for (JobMember& member : job.members) {
        if (member.summary && member.summary->place.rank) {
            by_rank[*member.summary->place.rank].push_back(&member);
        }
    }
    for (const auto& [rank, same] : by_rank) {
        find_rank(job, same);
    }
    std::erase_if(job.members, [&](const JobMember& member) {
        return std::find(job.replaced.begin(), job.replaced.end(), member.path) != job.replaced.end();
    });
}

void sort_members(Job& job) {
    const auto key = [](const JobMember& member) {
        const bool is_read = member.summary.has_value();
        return std::tuple(!is_read, !member.is_rank(), member.rank().value_or(0),
                          is_read ? member.summary->place.node : "", is_read ? member.summary->pid : 0, member.path);
    };
    std::sort(job.members.begin(), job.members.end(), [&](const auto& a, const auto& b) { return key(a) < key(b); });
}

void find_missing_ranks(Job& job) {
    std::set<int64_t> present;
    int64_t world = 0;
    for (const JobMember* member : job.ranks()) {
        present.insert(*member->rank());
        world = std::max(world, member->summary->place.world_size.value_or(0));
    }
    constexpr int64_t most_ranks = 1 << 20;  // a file may claim any number
    for (int64_t rank = 0; rank < std::min(world, most_ranks); ++rank) {
        if (!present.contains(rank)) {
            job.missing_ranks.push_back(rank);
        }
    }
}

}  // namespace

std::string member_name(const JobMember& member, const Words& words) {
    if (!member.summary) {
        return fs::path(member.path).filename().string();
    }
    const JobPlace& place = member.summary->place;
    const auto pid = with("pid", member.summary->pid);
    if (!place.rank && place.role.empty() && place.node.empty()) {
        return fs::path(member.path).filename().string();  // an imported snapshot knows no process
    }
    if (!place.rank) {
        return !place.role.empty() ? place.role : words("process {pid} on {node}", pid, with("node", place.node));
    }
    const auto rank = with("rank", *place.rank);
    return member.has_rank       ? words("rank {rank}", rank)
           : !place.role.empty() ? words("rank {rank}, {role}", rank, with("role", place.role))
                                 : words("rank {rank}, process {pid}", rank, pid);
}

std::vector<const JobMember*> Job::ranks() const {
    std::vector<const JobMember*> ranks;
    for (const JobMember& member : members) {
        if (member.is_rank()) {
            ranks.push_back(&member);
        }
    }
    return ranks;
}

int64_t Job::job_time(const JobMember& member, int64_t time) const {
    const auto clock = clocks.find(member.summary->place.node);
    return member.summary->start_utc_ns + time - (clock == clocks.end() ? 0 : clock->second);
}

std::pair<int64_t, int64_t> Job::span() const {
    std::pair<int64_t, int64_t> span{INT64_MAX, INT64_MIN};
    for (const JobMember& member : members) {
        if (member.summary) {
            span.first = std::min(span.first, job_time(member, 0));
            span.second = std::max(span.second, job_time(member, member.summary->duration));
        }
    }
    return span.first > span.second ? std::pair<int64_t, int64_t>{0, 0} : span;
}

/// Returns whether a trace belongs to a job: by its rank, or by the name of its folder. Nothing is written into other
/// folders of users.
static bool is_of_job(const std::string& trace, const ProcessSummary& summary) {
    std::error_code error;
    return summary.place.rank || fs::absolute(trace, error).parent_path().extension() == job_extension;
}

JobMember read_member(const std::string& path, Progress& progress) {
    JobMember member{path, read_summary(summary_path(path)), std::nullopt};
    if (member.summary && FileState{member.summary->file_bytes, member.summary->modified_ns} == state_of_file(path)) {
        return member;
    }
    auto summary = summarize_trace(path, progress);
    if (!summary) {
        member.summary = std::nullopt;
        member.failure = summary.error();
        member.is_being_recorded = is_being_written(path);
        return member;
    }
    member.summary = *std::move(summary);
    member.is_being_recorded = member.summary->is_being_written;
    if (!member.summary->is_being_written && is_of_job(path, *member.summary)) {
        (void)write_summary(summary_path(path),
                            *member.summary);  // a folder that cannot be written is read all the same
    }
    return member;
}

bool is_job(const std::string& path) {
    std::error_code error;
    const fs::directory_iterator entries(path, error);
    return !error && std::any_of(begin(entries), end(entries),
                                 [](const fs::directory_entry& entry) { return is_trace_name(entry); });
}

std::vector<std::string> traces_in(const std::string& folder) {
    std::vector<std::string> traces;
    std::error_code error;
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
        if (is_trace_name(*entry)) {
            traces.push_back(entry->path().string());
        }
    }
    std::sort(traces.begin(), traces.end());
    return traces;
}

Status remove_from_job(const std::string& trace) {
    TIDEMARK_TRY(remove_old_trace(trace, WithoutLocks::replace));
    std::error_code missing;
    fs::remove(summary_path(trace), missing);
    return {};
}

Result<Job> open_job(const std::string& folder, Progress& progress) {
    const std::vector<std::string> traces = traces_in(folder);
    if (traces.empty()) {
        return input_error("{path}: there is no trace (*{extension}) in this folder.", with("path", folder),
                           with("extension", trace_extension));
    }
    Job job;
    job.folder = folder;
    job.members = read_members(traces, progress);
    if (progress.canceled) {
        return canceled_error();
    }
    find_ranks(job);
    sort_members(job);
    find_missing_ranks(job);
    job.clocks = compare_clocks(job.ranks());
    return job;
}

Result<std::string> find_trace_of_rank(const std::string& folder, int64_t rank, Progress& progress) {
    const std::vector<std::string> all = traces_in(folder);
    std::vector<std::string> named;
    std::copy_if(all.begin(), all.end(), std::back_inserter(named),
                 [&](const std::string& trace) { return names_rank(fs::path(trace).filename().string(), rank); });
    if (named.size() == 1) {
        return named.front();
    }
    Job job;
    job.members = read_members(named.empty() ? all : named, progress);
    find_ranks(job);
    const auto found = std::find_if(job.members.begin(), job.members.end(),
                                    [&](const JobMember& member) { return member.rank() == rank; });
    if (found == job.members.end()) {
        return usage_error("{folder} has no trace of rank {rank}. List them with: tidemark info {folder}",
                           with("folder", folder), with("rank", rank));
    }
    return found->path;
}

}  // namespace tidemark
