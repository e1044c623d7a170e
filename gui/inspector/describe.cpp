// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/inspector/describe.h"

#include <algorithm>

#include "gui/inspector/details_text.h"
#include "gui/model/block_ref.h"
#include "gui/model/graph_text.h"
#include "gui/model/links.h"
#include "gui/model/plural.h"
#include "gui/model/text.h"
#include "storage/attribution/attribution.h"
#include "storage/graph/referrer_groups.h"

namespace tidemark::gui {

namespace {

constexpr size_t most_owners_shown = 7;
constexpr size_t most_savers_shown = 6;

/// C++ names with their arguments fill screens, so they are shortened. plain_stack has them in full.
QString frame_text(const StackTable& stacks, FrameId id) {
    const Frame& f = stacks.frame(id);
    const bool python = is_python(stacks.role(id));
    QString function = to_qstring(python ? stacks.string(f.function) : describe_frame(stacks, id));
    const QString file = to_qstring(stacks.string(f.file));
    if (!python && (file.isEmpty() || file == QLatin1String("??"))) {
        return function;
    }
    const QString place = f.line > 0 ? QStringLiteral("%1:%2").arg(file).arg(f.line) : file;
    return QStringLiteral("%1  %2").arg(function, place);
}

using FrameRow = Describer::FrameRow;

bool is_foldable(FrameRow::Kind kind) { return kind == FrameRow::Kind::library || kind == FrameRow::Kind::native; }

std::vector<FrameRow> frame_rows(const StackTable& stacks, StackId stack) {
    const FrameId site = stacks.site(stack);
    bool seen = false;
    std::vector<FrameRow> rows;
    for (const FrameId frame : stacks.frames_of(stack)) {
        const FrameRole role = stacks.role(frame);
        const bool is_site = !seen && stacks.is_site(frame, site);
        seen = seen || is_site;
        rows.push_back({frame, is_site                      ? FrameRow::Kind::site
                               : !is_located(role)          ? FrameRow::Kind::native
                               : role == FrameRole::library ? FrameRow::Kind::library
                                                            : FrameRow::Kind::user});
    }
    return rows;
}

QString native_fold_text(size_t count) {
    return QStringLiteral("▸ ") + Details::tr("%n C++ frame(s)", nullptr, static_cast<int>(count));
}

QString fold_text(const StackTable& stacks, const FrameRow& first, size_t count) {
    if (first.kind == FrameRow::Kind::native) {
        return native_fold_text(count);
    }
    return Details::tr("… %1 library frames, from %2")
        .arg(count)
        .arg(to_qstring(stacks.string(stacks.frame(first.frame).function)));
}

}  // namespace

StackTotals stack_totals(const Analysis& analysis, StackId stack, const TimePoint& time_point) {
    StackTotals totals;
    totals.stack = stack;
    const Allocations& all = analysis.device().allocations;
    totals.allocations = std::count(all.stack.begin(), all.stack.end(), stack);
    for (const ActiveAllocation& active : active_allocations(analysis.device(), analysis.live(), time_point)) {
        const AllocationIndex a = active.allocation;
        if (all.stack[a] != stack) {
            continue;
        }
        ++totals.alive;
        totals.alive_bytes += all.block_size[a];
        if (all.block_size[a] > totals.largest_alive_bytes) {
            totals.largest_alive_bytes = all.block_size[a];
            totals.largest_alive = a;
        }
    }
    return totals;
}

Describer::Describer(const Session& session, const MemoryState* state, SourceLines& sources,
                     const DescribeOptions& options)
    : session_(session),
      trace_(session.trace()),
      device_(session.device()),
      all_(device_.allocations),
      state_(state),
      time_point_(session.selection().state().time_point),
      sources_(sources),
      options_(options) {}

// --- An allocation ----------------------------------------------------------------------------------------------

Report Describer::allocation(AllocationIndex a, const std::vector<AllocationIndex>& owners) {
    report_.title(Details::tr("Allocation %1 · %2").arg(allocation_text(device_, a), bytes_text(all_.requested[a])),
                  stack_text(trace_.stacks, all_.stack[a]));
    add_size(a);
    add_lifetime(a);
    add_graph(a);
    report_.section(Details::tr("Allocated by"));
    if (all_.stack[a] == 0) {
        add_missing_stack(a);
    } else {
        add_stack(all_.stack[a], options_.unfold_stack, QStringLiteral("unfold:stack"));
        add_same_stack(all_.stack[a]);
    }
    add_place(a);
    add_neighbors(a);
    add_owners(a, owners);
    add_free_stack(a);
    return report_;
}

void Describer::add_size(AllocationIndex a) {
    const uint64_t rounding = rounding_of(all_, a);
    report_.field(Details::tr("Requested"), both_bytes_text(all_.requested[a]));
    report_.field(Details::tr("Block size"), both_bytes_text(all_.block_size[a]));
    report_.field(Details::tr("Allocator rounding"),
                  rounding == 0 ? Details::tr("none")
                                : QStringLiteral("%1, %2").arg(both_bytes_text(rounding),
                                                               percent_text(static_cast<double>(rounding),
                                                                            static_cast<double>(all_.block_size[a]))));
    report_.field(Details::tr("At the cursor"), state_at_cursor(a));
    add_place_note();
}

/// Says so if the cursor shows another step's memory.
void Describer::add_place_note() {
    if (const QString place = place_sentence(time_point_.repeated); !place.isEmpty()) {
        report_.note(place);
    }
}

QString Describer::state_at_cursor(AllocationIndex a) const {
    const EventNumber now = state_at(all_, a, time_point_);
    if (now <= all_.alloc_event[a]) {
        return Details::tr("not allocated yet");
    }
    if (now <= all_.free_event[a]) {
        return Details::tr("allocated");
    }
    return now <= all_.free_completed[a] ? Details::tr("pending free") : Details::tr("freed");
}

QString Describer::time_point_of(EventNumber event) const {
    return Details::tr("%1 · event %2")
        .arg(time_point_text(device_.event_time[static_cast<size_t>(event)]), count_text(event));
}

void Describer::add_lifetime(AllocationIndex a) {
    report_.section(Details::tr("Lifetime"));
    const EventNumber made = all_.alloc_event[a], freed = all_.free_event[a], done = all_.free_completed[a];
    if (made == before_history) {
        report_.field(Details::tr("Allocated at"), Details::tr("before the history begins"));
    } else {
        report_.field(Details::tr("Allocated at"), time_point_of(made), link_to("time_point", made + 1));
    }
    if (freed == never) {
        report_.field(Details::tr("Freed"), Details::tr("never: alive at the end"));
    } else {
        report_.field(Details::tr("Freed"), time_point_of(freed), link_to("time_point", freed + 1));
        if (done == never) {
            report_.field(Details::tr("Free completed"), Details::tr("never: the free is still pending at the end"));
        } else if (done > freed + 1) {
            report_.field(Details::tr("Free completed"), time_point_of(done), link_to("time_point", done + 1));
        }
    }
    const EventNumber last = freed == never ? device_.event_count() - 1 : freed;
    const int64_t end = device_.free_time(a).value_or(trace_.duration);
    const int64_t events = last - std::max<EventNumber>(made, 0);
    const bool is_lower_bound = freed == never || made == before_history;
    const QString lived = is_lower_bound ? Details::tr("at least %1, %2 event(s)", nullptr, plural(events))
                                         : Details::tr("%1, %2 event(s)", nullptr, plural(events));
    report_.field(Details::tr("Lifetime"),
                  lived.arg(duration_text(std::max<int64_t>(0, end - device_.alloc_time(a))), count_text(events)));
    const std::string annotation = group_name(trace_, device_, a, GroupBy::annotation);
    const bool inside = std::any_of(trace_.annotations.begin(), trace_.annotations.end(),
                                    [&](const Annotation& known) { return known.name == annotation; });
    if (inside) {
        report_.field(Details::tr("Allocated during"), to_qstring(annotation));
    }
    const Origin& origin = trace_.origins.empty() ? Origin{} : trace_.origins[all_.origin[a]];
    const std::string phase = word_of(origin.phase);
    const std::pair<QString, const std::string&> known[] = {{Details::tr("Operator"), origin.op},
                                                            {Details::tr("Module"), origin.module},
                                                            {Details::tr("Phase"), phase},
                                                            {Details::tr("Compiled region"), origin.compile_context},
                                                            {Details::tr("Metadata"), origin.user_metadata}};
    for (const auto& [name, value] : known) {
        if (!value.empty()) {
            report_.field(name, to_qstring(value));
        }
    }
    if (origin.thread != 0) {
        report_.field(Details::tr("Thread"), QString::number(origin.thread));
    }
}

/// Adds the category over time, the node that allocated it, the nodes that saved it, and the referrer.
void Describer::add_graph(AllocationIndex a) {
    const CategoryLookup category_of = session_.categories();
    if (!category_of.knows(a)) {
        return;
    }
    const Graph* const graph = session_.graph().get();
    const GraphIndex& index = graph->index;
    const AllocationRef memory = category_of.ref(a);
    const int64_t now = session_.cursor_time();
    report_.section(Details::tr("Category"));
    report_.field(Details::tr("At the cursor"), category_text(category_of(a)));
    QStringList history;
    for (const CategoryChange& change : graph->categories.history(memory)) {
        history << Details::tr("%1 %2").arg(category_text(change.category), time_point_text(change.time));
    }
    if (const auto freed = device_.free_time(a)) {
        history << Details::tr("freed %1").arg(time_point_text(*freed));
    }
    report_.field(Details::tr("History"), history.join(QStringLiteral(", ")));
    if (const std::string& name = graph->categories.name(memory); !name.empty()) {
        report_.field(Details::tr("Name"), to_qstring(name));
    }
    if (const NodeIndex maker = index.maker(memory); maker != no_node) {
        report_.field(Details::tr("Allocated by node"), node_of_module_text(index, maker), link_to("node", maker));
    }
    const auto saved = index.saved_in(memory);
    for (size_t i = 0; i < std::min(saved.size(), most_savers_shown); ++i) {
        const NodeIndex node = index.saver(saved[i]);
        report_.field(i == 0 ? Details::tr("Saved by") : QString(),
                      Details::tr("%1, %2").arg(node_of_module_text(index, node), state_text(index, node, now)),
                      link_to("node", node));
    }
    if (saved.size() > most_savers_shown) {
        report_.field(
            {}, Details::tr("and %1 more").arg(count_text(static_cast<int64_t>(saved.size() - most_savers_shown))));
    }
    if (const Referrer* referrer = ReferrerIndex(index, now).of(memory)) {
        report_.field(Details::tr("Retained by"), referrer_text(index.tables(), *referrer));
    }
}

Report Describer::node(NodeIndex node) {
    const Graph& graph = *session_.graph();
    const GraphIndex& index = graph.index;
    const GraphNodes& nodes = index.tables().nodes;
    const int64_t now = session_.cursor_time();
    const auto when = [](int64_t time) {
        return time == never_happened     ? Details::tr("not until the end of the recording")
               : time == before_recording ? Details::tr("before the recording began")
                                          : time_point_text(time);
    };
    report_.title(Details::tr("Node · %1").arg(node_text(index, node)), node_of_module_text(index, node));
    report_.field(Details::tr("At the cursor"), state_text(index, node, now));
    report_.field(Details::tr("Created at"), when(nodes.created[node]));
    report_.field(Details::tr("Executed in backward"), when(nodes.executed[node]));
    report_.field(Details::tr("Saved tensors released"), when(nodes.released[node]));
    report_.field(Details::tr("Destroyed"), when(nodes.destroyed[node]));
    if (const int32_t step = index.step_of(node); step >= 0) {
        report_.field(Details::tr("Step"), count_text(trace_.steps[static_cast<size_t>(step)].number));
    }
    const auto device = static_cast<uint32_t>(session_.selection().state().device);
    if (const AllocationRef output = nodes.output[node]; output && output.device == device) {
        report_.field(Details::tr("Its output"),
                      bytes_text(index.trace().devices[device].allocations.block_size[output.index]),
                      link_to("allocation", output.index));
    }
    for (const auto& [name, others] : {std::pair(Details::tr("Gradients go to"), index.children(node)),
                                       std::pair(Details::tr("Retained by"), index.parents(node))}) {
        for (size_t i = 0; i < std::min(others.size(), most_savers_shown); ++i) {
            report_.field(i == 0 ? name : QString(), node_of_module_text(index, others[i]), link_to("node", others[i]));
        }
    }
    report_.section(Details::tr("Allocated by"));
    if (nodes.stack[node] == 0) {
        report_.note(Details::tr("Not recorded."));
    } else {
        add_stack(nodes.stack[node], options_.unfold_stack, QStringLiteral("unfold:stack"));
    }
    return report_;
}

void Describer::add_place(AllocationIndex a) {
    report_.section(Details::tr("Placement"));
    report_.field(Details::tr("Stream"), stream_of_text(trace_, device_, a));
    report_.field(Details::tr("Pool"), pool_of_text(trace_, device_, a));
    report_.code_field(Details::tr("Address"), address_text(all_.address[a]));
    const uint32_t index = all_.segment[a];
    if (index == no_segment) {
        report_.field(Details::tr("Segment"), Details::tr("not known"));
        return;
    }
    const Segment& s = device_.segments[index];
    report_.code_field(Details::tr("Segment"),
                       QStringLiteral("%1, %2").arg(address_text(s.address), bytes_text(s.size)),
                       link_to("segment", index));
    report_.field(Details::tr("Offset"), both_bytes_text(all_.address[a] - s.address));
}

void Describer::add_stack(StackId stack, bool unfold, const QString& unfold_link) {
    std::vector<FrameRow> rows = frame_rows(trace_.stacks, stack);
    if (!unfold && is_python(trace_.stacks.role(trace_.stacks.site(stack)))) {
        // The interpreter's C++ frames lie between all Python frames.
        const auto is_native = [](const FrameRow& row) { return row.kind == FrameRow::Kind::native; };
        if (const size_t count = std::erase_if(rows, is_native); count > 0) {
            report_.frame(native_fold_text(count), Report::FrameKind::folded, unfold_link);
        }
    }
    for (size_t i = 0; i < rows.size();) {
        const auto end = std::find_if(rows.begin() + static_cast<ptrdiff_t>(i), rows.end(),
                                      [&](const FrameRow& row) { return row.kind != rows[i].kind; });
        const size_t count = static_cast<size_t>(end - rows.begin()) - i;
        if (!unfold && count > 1 && is_foldable(rows[i].kind)) {
            report_.frame(fold_text(trace_.stacks, rows[i], count), Report::FrameKind::folded, unfold_link);
            i += count;
        } else {
            add_frame(rows[i++]);
        }
    }
}

void Describer::add_frame(const FrameRow& row) {
    const StackTable& stacks = trace_.stacks;
    const auto kind = row.kind == FrameRow::Kind::site   ? Report::FrameKind::user
                      : row.kind == FrameRow::Kind::user ? Report::FrameKind::program
                                                         : Report::FrameKind::library;
    const bool python = is_python(stacks.role(row.frame));
    report_.frame(frame_text(stacks, row.frame), kind, python ? line_link(stacks, row.frame) : QString());
    const Frame& f = stacks.frame(row.frame);
    if (const auto line =
            is_foldable(row.kind) ? std::nullopt : sources_.line(to_qstring(stacks.string(f.file)), f.line)) {
        report_.source(*line);
    }
}

void Describer::add_missing_stack(AllocationIndex a) {
    if (all_.alloc_event[a] == before_history) {
        report_.note(Details::tr("Allocated before the history begins, so the allocation site is unknown."));
        return;
    }
    report_.note(Details::tr(
        "No Python frame: the backward thread or C++ code allocated it, and PyTorch records Python frames only."));
}

void Describer::add_same_stack(StackId stack) {
    const StackTotals totals = stack_totals(session_.analysis(), stack, time_point_);
    report_.item(
        Details::tr("This stack: %1 allocation(s) in all, %2 alive now with %3", nullptr, plural(totals.allocations))
            .arg(count_text(totals.allocations), count_text(totals.alive), bytes_text(totals.alive_bytes)),
        link_to("stack", stack));
}

void Describer::add_free_stack(AllocationIndex a) {
    if (all_.free_event[a] == never) {
        return;
    }
    const StackId stack = all_.free_stack[a];
    report_.section(Details::tr("Freed by"));
    if (stack == 0) {
        report_.note(Details::tr("Not recorded."));
    } else if (stack == all_.stack[a]) {
        report_.note(
            Details::tr("The trace has only the stack of the allocation: it recorded no separate stack of the free."));
    } else {
        add_stack(stack, options_.unfold_free, QStringLiteral("unfold:free"));
    }
}

void Describer::add_neighbors(AllocationIndex a) {
    const auto ref = state_ ? find_block(*state_, device_, a) : std::nullopt;
    if (!ref) {
        return;
    }
    report_.section(Details::tr("Neighbors at the cursor"));
    const std::vector<Block>& blocks = state_->segments[ref->segment].blocks;
    const auto add = [&](const QString& name, const Block* block) {
        if (!block) {
            report_.field(name, Details::tr("the edge of the segment"));
        } else if (block->allocation == no_allocation) {
            report_.field(name, Details::tr("free, %1").arg(bytes_text(block->size)));
        } else {
            report_.field(name,
                          QStringLiteral("%1  %2").arg(bytes_text(block->size),
                                                       stack_text(trace_.stacks, all_.stack[block->allocation])),
                          link_to("allocation", block->allocation));
        }
    };
    add(Details::tr("Before"), ref->block > 0 ? &blocks[ref->block - 1] : nullptr);
    add(Details::tr("After"), ref->block + 1 < blocks.size() ? &blocks[ref->block + 1] : nullptr);
}

QString Describer::owner_text(AllocationIndex a) const {
    const QString made = all_.alloc_event[a] == before_history ? Details::tr("before the history")
                                                               : time_point_text(device_.alloc_time(a));
    return QStringLiteral("%1  %2  %3")
        .arg(made, bytes_text(all_.block_size[a]), stack_text(trace_.stacks, all_.stack[a]));
}

void Describer::add_owners(AllocationIndex a, const std::vector<AllocationIndex>& owners) {
    if (owners.size() < 2) {
        return;
    }
    report_.section(
        Details::tr("Allocations at this address: %1").arg(count_text(static_cast<int64_t>(owners.size()))));
    const auto self = static_cast<size_t>(std::find(owners.begin(), owners.end(), a) - owners.begin());
    size_t first = 0, last = owners.size();
    if (!options_.all_owners && owners.size() > most_owners_shown) {
        first = self > most_owners_shown / 2 ? self - most_owners_shown / 2 : 0;
        last = std::min(owners.size(), first + most_owners_shown);
        first = last - most_owners_shown;
    }
    for (size_t i = first; i < last; ++i) {
        report_.item(owner_text(owners[i]), link_to("allocation", owners[i]), i == self);
    }
    if (last - first < owners.size()) {
        report_.frame(Details::tr("… show all %1").arg(count_text(static_cast<int64_t>(owners.size()))),
                      Report::FrameKind::folded, QStringLiteral("unfold:owners"));
    }
}

QString Describer::plain_stack(const StackTable& stacks, StackId stack) {
    QString text;
    for (const FrameId id : stacks.frames_of(stack)) {
        const Frame& f = stacks.frame(id);
        text += QStringLiteral("%1:%2 %3\n")
                    .arg(to_qstring(stacks.string(f.file)))
                    .arg(f.line)
                    .arg(to_qstring(stacks.string(f.function)));
    }
    return text;
}

}  // namespace tidemark::gui
