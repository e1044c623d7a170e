// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>
#include <unordered_map>

#include "storage/tables/table_points.h"
#include "storage/tables/tables.h"

namespace tidemark {
namespace {

struct SiteSum {
    int64_t bytes = 0, allocations = 0;
    void add(int64_t of_block) {
        bytes += of_block;
        ++allocations;
    }
};

/// The allocations of one line in one module.
struct SiteSums {
    SiteSum peak, end, all;
    std::string name;
    AllocationIndex example = no_allocation;
    std::array<int64_t, category_count> bytes_of{};  ///< by category, at the peak and at the end
    bool has_category = false;

    void add(std::optional<Category> category, int64_t bytes) {
        if (category) {
            bytes_of[static_cast<size_t>(*category)] += bytes;
            has_category = true;
        }
    }
    std::string_view category() const {
        const auto* const most = std::max_element(bytes_of.begin(), bytes_of.end());
        return has_category ? category_name(static_cast<Category>(most - bytes_of.begin())) : "";
    }
};

std::vector<SiteSums> find_sites(const AnalysisContext& context) {
    const DeviceHistory& device = context.device();
    const Allocations& all = device.allocations;
    Grouper lines(context.trace(), device, GroupBy::line), modules(context.trace(), device, GroupBy::module);
    std::vector<SiteSums> sites;
    std::unordered_map<uint64_t, size_t> position;
    const auto site_of = [&](AllocationIndex a) -> SiteSums& {
        const uint32_t line = lines.group_of(a);
        const auto [entry, is_new] = position.try_emplace(uint64_t{line} << 32 | modules.group_of(a), sites.size());
        if (is_new) {
            SiteSums& site = sites.emplace_back();
            site.name = lines.name(line);
            site.example = a;
        }
        return sites[entry->second];
    };
    for (AllocationIndex a = 0; a < all.size(); ++a) {
        site_of(a).all.add(static_cast<int64_t>(all.block_size[a]));
    }
    for (const auto& [point, sum] : {std::pair("peak", &SiteSums::peak), std::pair("end", &SiteSums::end)}) {
        for (const ActiveAllocation& active : active_at(context, point_of(context, point))) {
            SiteSums& site = site_of(active.allocation);
            const auto bytes = static_cast<int64_t>(all.block_size[active.allocation]);
            (site.*sum).add(bytes);
            site.add(category_of(context, active), bytes);
        }
    }
    return sites;
}

struct SiteRow {
    const Trace& trace;
    const DeviceHistory& device;
    const SiteSums& site;

    Frame frame() const { return trace.stacks.frame(trace.stacks.site(device.allocations.stack[site.example])); }
    const std::string& module() const { return trace.origins[device.allocations.origin[site.example]].module; }
};

using enum ColumnType;

constexpr ColumnOf<SiteRow> site_columns[] = {
    {"device", int32, [](Column& c, const SiteRow& r) { c.number(r.device.device); }},
    {"site", text, [](Column& c, const SiteRow& r) { c.text(r.site.name); }},
    {"file", text, [](Column& c, const SiteRow& r) { c.text(r.trace.stacks.string(r.frame().file)); }},
    {"line", int32,
     [](Column& c, const SiteRow& r) {
         const int32_t line = r.frame().line;
         c.number(line > 0 ? std::optional<int64_t>(line) : std::nullopt);
     }},
    {"function", text, [](Column& c, const SiteRow& r) { c.text(r.trace.stacks.string(r.frame().function)); }},
    {"module", text, [](Column& c, const SiteRow& r) { c.text(r.module()); }},
    {"category", text, [](Column& c, const SiteRow& r) { c.text(r.site.category()); }},
    {"peak_bytes", int64, [](Column& c, const SiteRow& r) { c.number(r.site.peak.bytes); }},
    {"peak_allocations", int64, [](Column& c, const SiteRow& r) { c.number(r.site.peak.allocations); }},
    {"end_bytes", int64, [](Column& c, const SiteRow& r) { c.number(r.site.end.bytes); }},
    {"end_allocations", int64, [](Column& c, const SiteRow& r) { c.number(r.site.end.allocations); }},
    {"allocated_bytes", int64, [](Column& c, const SiteRow& r) { c.number(r.site.all.bytes); }},
    {"allocations", int64, [](Column& c, const SiteRow& r) { c.number(r.site.all.allocations); }},
};

}  // namespace

const TableInfo& sites_table() {
    static const TableInfo info = table_info("sites", site_columns);
    return info;
}

Status write_sites(const AnalysisContext& context, const TakeBatch& take) {
    TableRows<SiteRow> rows(sites_table(), site_columns, take);
    for (const SiteSums& site : find_sites(context)) {
        TIDEMARK_TRY(rows.add({context.trace(), context.device(), site}));
    }
    return rows.finish();
}

}  // namespace tidemark
