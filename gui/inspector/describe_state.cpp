// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// Describes segments, stacks and points in time.
#include <algorithm>

#include "gui/inspector/describe.h"
#include "gui/inspector/details_text.h"
#include "gui/model/graph_text.h"
#include "gui/model/links.h"
#include "gui/model/plural.h"
#include "gui/model/text.h"
#include "storage/graph/referrer_groups.h"
#include "storage/text/fact_words.h"

namespace tidemark::gui {

namespace {
constexpr size_t most_blocks_shown = 8;
constexpr size_t most_sites_shown = 6;
}  // namespace

Report Describer::segment(uint32_t index) {
    const Segment& s = device_.segments[index];
    report_.title(Details::tr("Segment of %1").arg(bytes_text(s.size)),
                  s.stack ? stack_text(trace_.stacks, s.stack) : QString());
    report_.field(Details::tr("Size"), both_bytes_text(s.size));
    report_.code_field(Details::tr("Address"), address_text(s.address));
    if (trace_.event_source == EventSource::caching_allocator) {
        report_.field(Details::tr("Kind"), s.is_expandable ? Details::tr("expandable: grows and shrinks in place")
                                           : s.is_large    ? Details::tr("for blocks above 1 MiB")
                                                           : Details::tr("for blocks up to 1 MiB"));
        report_.field(Details::tr("Stream"), stream_text(trace_, s.stream));
        report_.field(Details::tr("Pool"), s.pool_known ? pool_text(trace_, s.pool) : Details::tr("not recorded"));
    }
    if (s.alloc_event == before_history) {
        report_.field(Details::tr("Allocated from the driver"), Details::tr("before the history begins"));
    } else {
        report_.field(Details::tr("Allocated from the driver"), time_point_of(s.alloc_event),
                      link_to("time_point", s.alloc_event + 1));
    }
    if (s.free_event == never) {
        report_.field(Details::tr("Released"), Details::tr("never"));
    } else {
        report_.field(Details::tr("Released"), time_point_of(s.free_event), link_to("time_point", s.free_event + 1));
    }
    const SegmentState* now = nullptr;
    for (size_t i = 0; state_ && s.alive_at(time_point_.event) && i < state_->segments.size(); ++i) {
        const SegmentState& candidate = state_->segments[i];
        if (s.address >= candidate.address && s.address < candidate.address + candidate.size) {
            now = &candidate;
        }
    }
    report_.section(Details::tr("At the cursor"));
    if (!now) {
        report_.note(Details::tr("It does not exist at the cursor."));
        return report_;
    }
    std::vector<const Block*> used;
    uint64_t largest_gap = 0;
    int64_t gaps = 0;
    for (const Block& b : now->blocks) {
        if (b.allocation != no_allocation) {
            used.push_back(&b);
        } else {
            ++gaps;
            largest_gap = std::max(largest_gap, b.size);
        }
    }
    report_.field(
        Details::tr("Allocated"),
        QStringLiteral("%1, %2").arg(both_bytes_text(now->allocated), percent_text(static_cast<double>(now->allocated),
                                                                                   static_cast<double>(now->size))));
    report_.field(Details::tr("Pending free"), both_bytes_text(now->pending));
    report_.field(Details::tr("Free"),
                  Details::tr("%1 in %2, the largest %3")
                      .arg(both_bytes_text(now->free()), Details::tr("%n free gap(s)", nullptr, plural(gaps)),
                           bytes_text(largest_gap)));
    report_.section(Details::tr("Its blocks: %1").arg(count_text(static_cast<int64_t>(used.size()))));
    std::sort(used.begin(), used.end(), [](const Block* a, const Block* b) { return a->size > b->size; });
    for (size_t i = 0; i < std::min(used.size(), most_blocks_shown); ++i) {
        report_.item(QStringLiteral("%1  %2").arg(bytes_text(used[i]->size),
                                                  stack_text(trace_.stacks, all_.stack[used[i]->allocation])),
                     link_to("allocation", used[i]->allocation));
    }
    if (used.size() > most_blocks_shown) {
        report_.note(
            Details::tr("and %1 smaller ones").arg(count_text(static_cast<int64_t>(used.size() - most_blocks_shown))));
    }
    if (s.stack != 0) {
        report_.section(Details::tr("Allocated by"));
        add_stack(s.stack, options_.unfold_stack, QStringLiteral("unfold:stack"));
    }
    return report_;
}

Report Describer::stack(StackId stack) {
    const StackTotals totals = stack_totals(session_.analysis(), stack, time_point_);
    report_.title(Details::tr("Stack · %1 alive now").arg(bytes_text(totals.alive_bytes)),
                  stack_text(trace_.stacks, stack));
    report_.field(Details::tr("Allocations"), count_text(totals.allocations));
    report_.field(Details::tr("Alive at the cursor"), count_text(totals.alive));
    report_.field(Details::tr("Bytes alive"), both_bytes_text(totals.alive_bytes));
    if (totals.largest_alive != no_allocation) {
        report_.field(Details::tr("Largest allocation"), bytes_text(totals.largest_alive_bytes),
                      link_to("allocation", totals.largest_alive));
    }
    report_.section(Details::tr("Frames"));
    if (stack == 0) {
        report_.note(Details::tr(
            "No Python frame: allocated on the backward thread, inside C++, or before the history begins."));
    }
    add_stack(stack, options_.unfold_stack, QStringLiteral("unfold:stack"));
    return report_;
}

void Describer::add_figures() {
    const auto value = [&](Series series) {
        return static_cast<uint64_t>(session_.analysis().curves().value(series, time_point_));
    };
    const uint64_t allocated = value(Series::allocated), active = value(Series::active),
                   reserved = value(Series::reserved);
    report_.field(Details::tr("Requested"), both_bytes_text(value(Series::requested)));
    report_.field(Details::tr("Allocated"), both_bytes_text(allocated));
    if (active > allocated) {
        report_.field(Details::tr("Pending free"), both_bytes_text(active - allocated));
    }
    report_.field(Details::tr("Reserved"), both_bytes_text(reserved));
    report_.field(Details::tr("Free in segments"), both_bytes_text(reserved > active ? reserved - active : 0));
}

Report Describer::time_point() {
    report_.title(Details::tr("At the cursor"));
    add_place_note();
    add_figures();
    report_.section(Details::tr("Events"));
    const EventNumber state = time_point_.repeated ? time_point_.repeated->state : time_point_.event;
    add_event(state - 1, Details::tr("Last"));
    add_event(state, Details::tr("Next"));
    const auto sites = attribution_at(trace_, device_, session_.analysis().live(), time_point_, GroupBy::stack);
    report_.section(Details::tr("Largest allocation sites"));
    if (sites.empty()) {
        report_.note(Details::tr("No allocation is alive at the cursor."));
    }
    for (size_t i = 0; i < std::min(sites.size(), most_sites_shown); ++i) {
        report_.item(QStringLiteral("%1  %2").arg(bytes_text(static_cast<uint64_t>(sites[i].block_bytes)),
                                                  stack_text(trace_.stacks, sites[i].stack)),
                     link_to("stack", sites[i].stack));
    }
    report_.note(Details::tr("Click a band, a block or a row to see it here."));
    return report_;
}

void Describer::add_event(EventNumber event, const QString& name) {
    if (event < 0 || event >= device_.event_count()) {
        report_.field(name,
                      event < 0 ? Details::tr("the start of the history") : Details::tr("the end of the history"));
        return;
    }
    const EventRef ref = device_.event_ref[static_cast<size_t>(event)];
    const QString words = to_qstring(event_words(reader_words(), device_, event));
    switch (ref.action()) {
        case Action::alloc:
        case Action::free_requested:
        case Action::free_completed:
            report_.field(name, QStringLiteral("%1  %2").arg(words, stack_text(trace_.stacks, all_.stack[ref.index()])),
                          link_to("allocation", ref.index()));
            return;
        case Action::segment_alloc:
        case Action::segment_free:
        case Action::segment_map:
        case Action::segment_unmap: report_.field(name, words, link_to("segment", ref.index())); return;
        default: report_.field(name, words);
    }
}

}  // namespace tidemark::gui
