// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/job/gpu_totals.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <tuple>

namespace tidemark {
namespace {

using Gpu = std::tuple<std::string, std::string, int>;  ///< node, uuid, device if there is no uuid

void add(GpuTotal& total, const Job& job, size_t member, const DeviceSummary& device) {
    if (total.parts.empty()) {
        total.node = job.members[member].summary->place.node;
        total.uuid = device.uuid;
        total.name = device.name;
        total.device = device.device;
    }
    total.total_bytes = std::max(total.total_bytes, device.total_bytes);
    if (device.device_used) {
        total.used = std::max(total.used.value_or(0), *device.device_used);
    }
    total.parts.push_back({member, device.own_at_end()});
}

/// A process that uses a GPU.
struct User {
    size_t member;  ///< position in Job::members
    const DeviceSummary* device;
};

/// Returns the users that had not ended when the last one began.
std::vector<User> last_together(const Job& job, std::vector<User> users) {
    int64_t last_begin = INT64_MIN;
    for (const User& user : users) {
        last_begin = std::max(last_begin, job.job_time(job.members[user.member], 0));
    }
    std::erase_if(users, [&](const User& user) {
        const JobMember& member = job.members[user.member];
        return job.job_time(member, member.summary->duration) < last_begin;
    });
    return users;
}

void find_rest(GpuTotal& total) {
    int64_t own = 0;
    for (const GpuTotal::Part& part : total.parts) {
        own += part.bytes;
    }
    // The processes' values are of the ends of their own traces, which may be apart.
    total.used = total.used ? std::optional(std::max(*total.used, own)) : total.used;
    total.rest = total.used.value_or(own) - own;
}

}  // namespace

std::vector<GpuTotal> gpu_totals(const Job& job) {
    std::map<Gpu, std::vector<User>> users_by_gpu;
    for (size_t i = 0; i < job.members.size(); ++i) {
        const auto& summary = job.members[i].summary;
        for (size_t d = 0; summary && d < summary->devices.size(); ++d) {
            const DeviceSummary& device = summary->devices[d];
            if (!device.uuid.empty() || !summary->place.node.empty()) {
                users_by_gpu[{summary->place.node, device.uuid, device.uuid.empty() ? device.device : 0}].push_back(
                    {i, &device});
            }
        }
    }
    std::map<Gpu, GpuTotal> by_gpu;
    for (auto& [gpu, users] : users_by_gpu) {
        for (const User& user : last_together(job, users)) {
            add(by_gpu[gpu], job, user.member, *user.device);
        }
    }
    std::vector<GpuTotal> totals;
    for (auto& [gpu, total] : by_gpu) {
        find_rest(total);
        totals.push_back(std::move(total));
    }
    std::stable_sort(totals.begin(), totals.end(), [](const GpuTotal& a, const GpuTotal& b) {
        return std::tie(a.node, a.device) < std::tie(b.node, b.device);
    });
    return totals;
}

}  // namespace tidemark
