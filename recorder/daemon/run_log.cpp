// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/daemon/run_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "storage/base/utf8.h"
#include "storage/text/data_gap_words.h"

namespace tidemark::recorder {

namespace {

constexpr size_t most_open_spans = 10'000;
constexpr size_t most_data_gaps_repeated = 100;

}  // namespace

bool RunLog::on_step(const tidemark_record& record) {
    const bool reported = record.detail == 1;
    if (reported_by_user_ && !reported) {
        return false;
    }
    if (reported && !reported_by_user_) {
        // Steps that the user reports replace those of the optimizer.
        reported_by_user_ = true;
        writer_.drop_steps();
        last_step_ = {};
    }
    Step step;
    step.number = last_step_.end ? last_step_.number + 1 : 0;
    step.source = reported ? StepSource::user : StepSource::optimizer;
    step.start = last_step_.end.value_or(0);
    step.end = std::max(step.start, clock_.time_of(record.ticks));
    writer_.step(step);
    last_step_ = step;
    return true;
}

void RunLog::on_mark(const tidemark_record& record, std::span<const std::byte> payload) {
    WaitingMark waiting;
    waiting.mark.time = clock_.time_of(record.ticks);
    if (record.mark.has_value != 0) {
        waiting.mark.value = record.mark.value;
    }
    const size_t numbers = std::min<size_t>(record.mark.devices, payload.size() / sizeof(uint64_t));
    waiting.sequences.resize(std::min<size_t>(numbers, max_devices));
    if (!waiting.sequences.empty()) {
        std::memcpy(waiting.sequences.data(), payload.data(), waiting.sequences.size() * sizeof(uint64_t));
    }
    waiting.mark.name = text_of(payload.subspan(numbers * sizeof(uint64_t)));
    marks_.push_back(std::move(waiting));
}

void RunLog::write_marks(const NumberOf& number_of) {
    for (; !marks_.empty(); marks_.pop_front()) {
        auto& [mark, sequences] = marks_.front();
        for (size_t device = 0; device < sequences.size(); ++device) {
            const auto number = number_of(static_cast<uint32_t>(device), sequences[device]);
            if (!number) {
                return;  // later marks follow later events
            }
            mark.events[static_cast<int>(device)] = static_cast<FileEvent>(*number);
        }
        writer_.mark(mark);
    }
}

void RunLog::on_span(const tidemark_record& record, const ThreadDefinitions& thread) {
    std::vector<int64_t>& open = open_spans_[&thread];
    const int64_t time = clock_.time_of(record.ticks);
    if (record.detail != TIDEMARK_SPAN_ENDS && open.size() < most_open_spans) {
        const std::string& name = writer_.stacks().string(thread.text(record.span.text));
        open.push_back(writer_.annotation_begun(
            {name, record.detail == TIDEMARK_SPAN_OF_RANKS_BEGINS ? AnnotationKind::collective : AnnotationKind::user,
             static_cast<int>(record.span.device), time, time, false},
            thread.native_thread()));
    } else if (record.detail == TIDEMARK_SPAN_ENDS && !open.empty()) {
        writer_.annotation_ended(open.back(), time);
        open.pop_back();
    }
}

void RunLog::on_meta(std::span<const std::byte> payload) {
    const std::string_view text = text_of(payload);
    const size_t middle = text.find('\0');
    if (middle == std::string_view::npos) {
        return;
    }
    const std::string key(text.substr(0, middle)), value(text.substr(middle + 1));
    if (key.ends_with("_version")) {
        writer_.meta("recorded." + key, value);
        versions_.insert(key);
    } else {
        settings_[key] = value;
        writer_.setting(key, value);
    }
}

void RunLog::on_data_gap(const tidemark_record& record, std::span<const std::byte> payload) {
    const int kind = record.detail < data_gap_kind_count ? record.detail : static_cast<int>(DataGapKind::not_recorded);
    const std::string_view text = text_of(payload);
    const size_t end = std::min(text.find('\0'), text.size());
    const std::string details(cut_text(text.substr(std::min(end + 1, text.size())), most_bytes_of_details));
    DataGap data_gap;
    data_gap.kind = static_cast<DataGapKind>(kind);
    data_gap.time = clock_.time_of(record.ticks);
    data_gap.reason = fact_from_word<DataGapReason>(text.substr(0, end));
    if (data_gap.reason == DataGapReason::unknown) {
        data_gap.text = details;
    } else if (!details.empty()) {
        data_gap.arguments = {{"details", details}};
    }
    add_data_gap(data_gap);
}

void RunLog::details_paused(int64_t time) {
    pause_ = writer_.annotation_begun({"details paused", AnnotationKind::details_paused, 0, time, time, false}, 0);
}

void RunLog::details_resumed(int64_t paused, int64_t time) {
    writer_.annotation_ended(pause_, time);
    add_data_gap(DataGapReason::details_paused, time,
                 {{"from_ns", fmt::to_string(paused)}, {"until_ns", fmt::to_string(time)}});
}

void RunLog::add_data_gap(DataGapReason reason, int64_t time, DataGapArguments arguments) {
    DataGap data_gap;
    data_gap.kind = DataGapKind::not_recorded;
    data_gap.time = time;
    data_gap.reason = reason;
    data_gap.arguments = std::move(arguments);
    add_data_gap(data_gap);
}

void RunLog::add_data_gap(const DataGap& data_gap) {
    writer_.data_gap(data_gap);
    lacks_allocator_ |= data_gap.reason == DataGapReason::attach_failed ||
                        data_gap.reason == DataGapReason::allocator_fallback ||
                        data_gap.reason == DataGapReason::allocator_failed;
    lacks_driver_ |= data_gap.reason == DataGapReason::cupti_missing || data_gap.reason == DataGapReason::cupti_busy ||
                     data_gap.reason == DataGapReason::cupti_forbidden ||
                     data_gap.reason == DataGapReason::cupti_failed || data_gap.reason == DataGapReason::driver_failed;
    is_allocator_late_ |= data_gap.reason == DataGapReason::allocator_late;
    if (data_gaps_.size() < most_data_gaps_repeated) {
        data_gaps_.push_back(data_gap_words(Words(language_of_locale()), data_gap));
    }
}

}  // namespace tidemark::recorder
