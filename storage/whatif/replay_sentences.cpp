// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/whatif/replay_sentences.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>

#include "storage/base/units.h"

namespace tidemark {

namespace {

std::string percent(double share) { return fmt::format("{:.1f} %", std::abs(share) * 100); }

}  // namespace

Sentence peak_sentence(const RecordedRun& recorded, const ModelRun& asked) {
    // The recorded figure stands beside the sentence, also where the model differs from it.
    const int64_t before = recorded.recorded.figures.peak_reserved, after = asked.figures.peak_reserved;
    const With bytes = with("bytes", format_bytes(after)), from = with("before", format_bytes(before));
    if (after == recorded.model.figures.peak_reserved) {
        return Sentence("Peak reserved {bytes}, as with the recorded settings.", bytes);
    }
    const double share = static_cast<double>(after - before) / static_cast<double>(std::max<int64_t>(before, 1));
    const With part = with("percent", percent(share));
    return after < before ? Sentence("Peak reserved {bytes} instead of {before} ({percent} less).", bytes, from, part)
                          : Sentence("Peak reserved {bytes} instead of {before} ({percent} more).", bytes, from, part);
}

std::optional<Sentence> failure_sentence(const RecordedRun& recorded, const ModelRun& asked) {
    const auto& failed = asked.figures.failed;
    const auto& before = recorded.recorded.figures.failed;
    if (!failed) {
        return before ? std::optional(Sentence("Would not run out of memory at event {event}, as the recorded run did.",
                                               with("event", format_count(before->event))))
                      : std::nullopt;
    }
    const With event = with("event", format_count(failed->event)), bytes = with("bytes", format_bytes(failed->bytes));
    if (!failed->is_sure) {
        return Sentence(
            "May run out of memory at event {event}: the recording leaves open whether a request of {bytes} would have "
            "memory. Set a memory limit to know.",
            event, bytes);
    }
    return before && before->event == failed->event
               ? Sentence(
                     "Would run out of memory at event {event}, as the recorded run did: a request of {bytes} "
                     "has no memory.",
                     event, bytes)
               : Sentence("Would run out of memory at event {event}: a request of {bytes} has no memory.", event,
                          bytes);
}

Sentence trust_sentence(const RecordedRun& recorded) {
    const ModelCheck& check = recorded.check;
    if (!check.difference) {
        return Sentence(
            "With the recorded settings, the model reproduces every block and segment of the {events} recorded events.",
            with("events", format_count(check.events)));
    }
    const With from = with("event", format_count(check.differs_at)), why = with("difference", *check.difference);
    if (recorded.deviation() == 0) {
        return Sentence(
            "With the recorded settings, the model has the recorded peak, but differs from event {event} on "
            "({difference}): its figures are estimates.",
            from, why);
    }
    const With part = with("percent", percent(recorded.deviation()));
    return recorded.deviation() > 0
               ? Sentence(
                     "With the recorded settings, the model's peak is {percent} above the recorded one; it differs "
                     "from event {event} on ({difference}). Its figures are estimates.",
                     part, from, why)
               : Sentence(
                     "With the recorded settings, the model's peak is {percent} below the recorded one; it differs "
                     "from event {event} on ({difference}). Its figures are estimates.",
                     part, from, why);
}

std::vector<Sentence> replay_limits(const RecordedRun& recorded) {
    std::vector<Sentence> limits;
    if (recorded.unknown_steps > 0) {
        limits.push_back(Sentence::plural(
            recorded.unknown_steps,
            "The requests of {n} step were deleted to keep the file small, so the model lacks its temporary memory. "
            "Record with a larger --keep to replay every step.",
            "The requests of {n} steps were deleted to keep the file small, so the model lacks their temporary memory. "
            "Record with a larger --keep to replay every step."));
    }
    if (recorded.repeated_steps > 0) {
        limits.push_back(Sentence::plural(
            recorded.repeated_steps,
            "{n} step was recorded as a repetition; its requests are those of the step that it repeats.",
            "{n} steps were recorded as repetitions; their requests are those of the steps that they repeat."));
    }
    return limits;
}

}  // namespace tidemark
