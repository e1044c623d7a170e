// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/daemon/device_track.h"

#include <fmt/format.h>

#include <algorithm>

#include "storage/base/units.h"

namespace tidemark::recorder {

namespace {

constexpr auto longest_wait_for_event = std::chrono::seconds(2);
/// Limit of events that are queued while an earlier one is missing.
constexpr size_t most_pending = 1 << 18;
constexpr size_t most_questions = 1 << 18;
constexpr size_t most_blocks_reported = 1 << 24;
/// A longer gap means a damaged sequence number, not lost events.
constexpr uint64_t longest_gap = uint64_t{1} << 27;
/// A step is written if this part more is allocated than after the last one that was: 1 / 64. The state with the most
/// bytes is then near the peak of all steps.
constexpr int64_t least_part_of_growth = 64;
/// After the last event of a step, events of other threads may still arrive.
constexpr int64_t wait_for_other_rings = 200'000'000;  // ns

/// Steps that others repeat and whose events stay: changes of the program, not of its data.
constexpr size_t most_steps_repeated = 256;

/// Further differences most likely have the same cause.
constexpr int64_t most_differences_reported = 10;

bool is_later(const MemoryQuestion& a, const MemoryQuestion& b) { return a.sequence > b.sequence; }

}  // namespace

void DeviceTrack::on_event(const QueuedEvent& event) {
    const bool is_next = replay_ && queue_.pending() == 0 && event.record.event.sequence == queue_.next();
    if (is_next && checks_.empty() && apply(event, false)) {
        queue_.pop();
    } else if (event.record.event.sequence >= static_cast<uint64_t>(preexisting_bit) || !queue_.push(event)) {
        ++events_refused_;
    }
}

void DeviceTrack::on_state(const tidemark_record& record, const ThreadDefinitions& thread) {
    const auto& part = record.state;
    if (record.detail == TIDEMARK_STATE_BEGIN) {
        IncompleteState& incomplete = incomplete_[&thread] = {part.flags, {}};
        incomplete.state.events_before = part.sequence;
        return;
    }
    const auto found = incomplete_.find(&thread);
    if (found == incomplete_.end()) {
        return;
    }
    AllocatorState& state = found->second.state;
    if (part.size > largest_size || part.requested > largest_size) {
        return;
    }
    if (record.detail == TIDEMARK_STATE_SEGMENT && state.segments.size() < most_blocks_reported) {
        state.segments[part.address] = {
            part.size,
            {context_.writer.stream(part.stream), thread.pool(part.pool), (part.flags & TIDEMARK_SEGMENT_LARGE) != 0,
             (part.flags & TIDEMARK_SEGMENT_EXPANDABLE) != 0}};
    } else if (record.detail == TIDEMARK_STATE_BLOCK && state.blocks.size() < most_blocks_reported) {
        state.blocks[part.address] = {part.size, part.requested, (part.flags & TIDEMARK_BLOCK_PENDING) != 0};
    } else if (record.detail == TIDEMARK_STATE_END) {
        const IncompleteState reported = std::move(found->second);
        incomplete_.erase(found);
        if (reported.purpose == TIDEMARK_STATE_START && !replay_) {
            begin(reported.state, AllocatorSettings::from_text(context_.settings));
        } else if (reported.purpose == TIDEMARK_STATE_CHECK) {
            checks_.push_back(reported.state);
        }
    }
}

void DeviceTrack::begin_with_driver() {
    if (!replay_) {
        begin({}, {});
    }
}

void DeviceTrack::begin(const AllocatorState& start, const AllocatorSettings& settings) {
    reported_segments_ = !start.segments.empty();
    replay_.emplace(device_, context_.writer, settings, start, AllocationListeners{&context_.sites, &context_.labels});
    answer_due_questions(0);
}

std::optional<int64_t> DeviceTrack::ask(const MemoryQuestion& question) {
    const bool has_arrived = replay_ && number_of(question.sequence) <= static_cast<uint64_t>(replay_->events());
    if (has_arrived && !replay_->await_row(question.address)) {
        return answer_to(question);
    }
    if (has_arrived) {
        awaiting_.emplace(question.address, question.ticket);
        return std::nullopt;
    }
    if (questions_.size() >= most_questions) {
        return no_allocation_row;
    }
    questions_.push_back(question);
    std::push_heap(questions_.begin(), questions_.end(), is_later);
    return std::nullopt;
}

int64_t DeviceTrack::answer_to(const MemoryQuestion& question) const {
    if (!replay_) {
        return no_allocation_row;
    }
    const auto now = static_cast<uint64_t>(replay_->events());
    return replay_->allocation_at(question.address,
                                  static_cast<FileEvent>(std::min(number_of(question.sequence), now)));
}

/// Answers a question about the state now, or later if its block has no row yet.
void DeviceTrack::settle(const MemoryQuestion& question) {
    if (replay_ && replay_->await_row(question.address)) {
        awaiting_.emplace(question.address, question.ticket);
    } else {
        answers_.push_back({question.ticket, answer_to(question)});
    }
}

/// `is_due`: true for the questions up to some sequence number.
void DeviceTrack::settle_questions(const std::function<bool(const MemoryQuestion&)>& is_due) {
    while (!questions_.empty() && is_due(questions_.front())) {
        settle(questions_.front());
        std::pop_heap(questions_.begin(), questions_.end(), is_later);
        questions_.pop_back();
    }
}

/// Answers the questions about the state after up to `events` events.
void DeviceTrack::answer_due_questions(uint64_t events) {
    settle_questions([&](const MemoryQuestion& question) { return number_of(question.sequence) <= events; });
}

/// Answers the questions about blocks that got a row, or ended without one.
void DeviceTrack::answer_awaiting_questions() {
    for (const SettledBlock& block : replay_->take_settled_blocks()) {
        const auto [begin, end] = awaiting_.equal_range(block.address);
        for (auto question = begin; question != end; ++question) {
            answers_.push_back({question->second, block.allocation});
        }
        awaiting_.erase(begin, end);
    }
}

void DeviceTrack::advance(bool at_end) {
    if (has_begun(at_end)) {
        apply_pending(at_end);
    }
    end_steps(at_end ? INT64_MAX : context_.clock.now() - wait_for_other_rings);
    if (at_end || step_.is_overdue()) {
        write_collected();
    }
    if (at_end) {
        if (replay_) {
            end_repeats(queue_.next());
        }
        answer_due_questions(UINT64_MAX);
    }
}

/// Returns false while the start state is missing and may still arrive.
bool DeviceTrack::has_begun(bool at_end) {
    if (!replay_) {
        if (queue_.pending() == 0 || (!at_end && queue_.pending() < most_pending)) {
            return false;
        }
        context_.writer.data_gap(
            {DataGapKind::events_inconsistent, device_, 0, 0, 0, DataGapReason::start_state_missing, {}, {}});
        begin({}, AllocatorSettings::from_text(context_.settings));
    }
    return true;
}

void DeviceTrack::apply_pending(bool at_end) {
    for (;;) {
        run_due_checks();
        const QueuedEvent* event = queue_.front();
        if (event != nullptr && apply(*event, false)) {
            queue_.pop();
            stuck_since_.reset();
            continue;
        }
        if (queue_.pending() == 0) {
            stuck_since_.reset();
            break;
        }
        if (!may_skip(at_end)) {
            break;
        }
        if (event == nullptr) {
            skip_missing_events();
        } else {
            apply(*event, true);
            queue_.pop();
        }
    }
    run_due_checks();
}

bool DeviceTrack::may_skip(bool at_end) {
    const auto now = Clock::now();
    if (!stuck_since_) {
        stuck_since_ = now;
    }
    return at_end || now - *stuck_since_ >= longest_wait_for_event || queue_.pending() >= most_pending;
}

void DeviceTrack::skip_missing_events() {
    const uint64_t count = queue_.first_pending() - queue_.next();
    if (count > longest_gap) {
        queue_.drop_first();
        ++events_refused_;
        return;
    }
    write_collected();
    end_repeats(queue_.next());
    const uint64_t numbered = std::min(count, context_.budget.left());
    report_missing(DataGapReason::events_dropped, numbered);
    replay_->skip(numbered);
    context_.budget.take(numbered);
    report_missing(DataGapReason::numbers_left_out, count - numbered);
    numbering_.leave_out(queue_.first_pending(), count - numbered);
    queue_.skip_gap();
    events_lost_ += static_cast<int64_t>(count);
}

void DeviceTrack::report_missing(DataGapReason reason, uint64_t count) {
    if (count > 0) {
        context_.writer.data_gap({DataGapKind::recorder_overrun,
                                  device_,
                                  replay_->last_time(),
                                  static_cast<int64_t>(count),
                                  0,
                                  reason,
                                  {{"first", fmt::to_string(replay_->events())}},
                                  {}});
    }
}

/// Returns false if the event refers to a definition that has not arrived. `accepts_undefined`: applies it without the
/// definition.
bool DeviceTrack::apply(const QueuedEvent& queued, bool accepts_undefined) {
    const auto& record = queued.record.event;
    const ThreadDefinitions* stack_thread =
        record.stack_thread == 0 ? queued.thread : context_.definitions.find(record.stack_thread);
    auto stack = stack_thread == nullptr ? std::nullopt : stack_thread->stack(record.stack);
    const auto phase = context_.definitions.phase(record.phase);
    // A definition of the event's own thread precedes the event, so a missing one was dropped.
    const bool may_arrive = (!stack && stack_thread != queued.thread) || !phase;
    if (may_arrive && !accepts_undefined) {
        return false;
    }
    if (!stack) {
        stack = ThreadDefinitions::Stack();
    }
    AllocatorEvent event;
    const uint8_t action = queued.record.detail & ~TIDEMARK_EVENT_LIGHT;
    event.is_light = (queued.record.detail & TIDEMARK_EVENT_LIGHT) != 0;
    if (action < static_cast<uint8_t>(Action::unknown) && record.size <= largest_size) {
        event.action = static_cast<Action>(action);
    } else {
        event.unknown_name = fmt::format("action {}", action);
    }
    event.time = context_.clock.time_of(queued.record.ticks);
    event.address = record.address;
    event.size = record.size;
    event.stream = context_.writer.stream(record.stream);
    event.pool = queued.thread->pool(record.pool);
    event.stack = stack->stack;
    event.origin =
        context_.origins.origin({queued.thread->native_thread(), queued.thread->op(record.op), phase.value_or(0),
                                 queued.thread->text(record.context), queued.metadata, stack->modules});
    take_in(event);
    return true;
}

void DeviceTrack::take_in(const AllocatorEvent& event) {
    end_steps(event.time);
    if (!context_.is_adaptive || !step_.is_collecting()) {
        write(event);
    } else if (!step_.add(event)) {
        write_collected();
    }
}

void DeviceTrack::write(const AllocatorEvent& event) {
    end_repeats(queue_.next());
    replay_->apply(event);
    context_.budget.on_event();
    answer_due_questions(static_cast<uint64_t>(replay_->events()));
}

void DeviceTrack::write_collected() {
    if (step_.size() > 0) {
        end_repeats(queue_.next() - step_.size());
    }
    for (const AllocatorEvent& event : step_.take()) {
        write(event);
    }
}

void DeviceTrack::step_ends(int64_t time) { step_ends_.push_back(time); }

/// Ends the steps that ended before `time`.
void DeviceTrack::end_steps(int64_t time) {
    while (!step_ends_.empty() && step_ends_.front() < time) {
        end_step(step_ends_.front());
        step_ends_.pop_front();
    }
}

void DeviceTrack::end_step(int64_t time) {
    const std::optional<int64_t> like = context_.is_adaptive ? step_.end_step(time) : std::nullopt;
    const std::vector<AllocatorEvent> events = step_.take();
    const int64_t start = std::exchange(step_start_, time);
    if (!replay_ || (like && events.empty())) {
        return;  // the device is not used
    }
    const int64_t growth = replay_->allocated_bytes() - level_;
    if (like && growth * least_part_of_growth <= level_) {
        if (kept_.size() < most_steps_repeated && kept_.insert(*like).second) {
            context_.writer.keep_step(device_, *like);
        }
        const FileEvent before = replay_->events();
        const uint64_t first = queue_.next() - events.size();
        replay_->apply_repeated(events, start, time, *like, [&](size_t i) {
            answer_awaiting_questions();
            settle_questions([&](const MemoryQuestion& question) { return question.sequence <= first + i; });
        });
        answer_awaiting_questions();
        numbering_.leave_out(queue_.next(), events.size());
        numbering_.add(queue_.next(), static_cast<uint64_t>(replay_->events() - before));
        answer_due_questions(static_cast<uint64_t>(replay_->events()));
        return;
    }
    end_repeats(queue_.next() - events.size());
    for (const AllocatorEvent& event : events) {
        write(event);
    }
    replay_->end_step(start, time, steps_to_keep_ > 0);
    steps_to_keep_ = std::max(0, steps_to_keep_ - 1);
    level_ = replay_->allocated_bytes();
}

/// Before anything else is written, the rows must show the state. `next`: the sequence number of what follows.
void DeviceTrack::end_repeats(uint64_t next) {
    const FileEvent before = replay_->events();
    replay_->end_repeats();
    answer_awaiting_questions();
    numbering_.add(next, static_cast<uint64_t>(replay_->events() - before));
}

void DeviceTrack::run_due_checks() {
    while (!checks_.empty() && checks_.front().events_before <= queue_.next()) {
        write_collected();
        end_repeats(queue_.next());
        AllocatorState& reported = checks_.front();
        reported.events_before = number_of(reported.events_before);
        check(reported);
        checks_.pop_front();
    }
}

void DeviceTrack::check(const AllocatorState& reported) {
    const auto found = replay_->compare(reported);
    if (!found) {
        return;
    }
    ++checks_made_;
    if (!found->any()) {
        return;
    }
    if (++checks_failed_ <= most_differences_reported) {
        context_.writer.data_gap({DataGapKind::state_disagrees,
                                  device_,
                                  replay_->last_time(),
                                  found->blocks + found->segments,
                                  0,
                                  DataGapReason::state_differs,
                                  {{"event", fmt::to_string(reported.events_before)},
                                   {"segments", fmt::to_string(found->segments)},
                                   {"blocks", fmt::to_string(found->blocks)},
                                   {"example", found->example}},
                                  {}});
    }
    replay_->adopt(reported);
}

void DeviceTrack::report_progress() {
    if (has_data()) {
        context_.writer.progress_of(device_, replay_->events(), replay_->peak_event());
    }
}

void DeviceTrack::report_data_gaps() {
    if (!replay_) {
        return;
    }
    const auto report = [&](DataGapKind kind, int64_t count, DataGapReason reason) {
        if (count > 0) {
            context_.writer.data_gap({kind, device_, replay_->last_time(), count, 0, reason, {}, {}});
        }
    };
    report(DataGapKind::events_inconsistent, replay_->inconsistent() + events_refused_,
           DataGapReason::contradicting_events);
    report(DataGapKind::unknown_actions, replay_->unknown_actions(), DataGapReason::unknown_actions);
    report(DataGapKind::pool_unknown, replay_->unknown_pools(), DataGapReason::pool_not_reported);
}

}  // namespace tidemark::recorder
