// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/daemon/referrer_log.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <vector>

#include "storage/base/utf8.h"

namespace tidemark::recorder {

namespace {

constexpr size_t most_pending_bytes = 16 << 20;
constexpr size_t texts_of_link = 5;

int64_t count_of(uint64_t number) { return static_cast<int64_t>(std::min<uint64_t>(number, INT64_MAX)); }

/// Returns 0 if the text is not a number.
int32_t line_of(std::string_view text) {
    int32_t line = 0;
    std::from_chars(text.data(), text.data() + text.size(), line);
    return line;
}

/// Removes and returns the text up to the next NUL; nothing if there is no NUL.
std::optional<std::string_view> take_text(std::string_view& rest) {
    const size_t end = rest.find('\0');
    if (end == std::string_view::npos) {
        return std::nullopt;
    }
    const std::string_view text = rest.substr(0, end);
    rest.remove_prefix(end + 1);
    return text;
}

/// Returns the five texts of the next link; nothing if it is incomplete.
std::optional<std::array<std::string_view, texts_of_link>> take_link(std::string_view& rest) {
    std::array<std::string_view, texts_of_link> link;
    for (std::string_view& text : link) {
        const auto taken = take_text(rest);
        if (!taken) {
            return std::nullopt;
        }
        text = *taken;
    }
    return link;
}

}  // namespace

void ReferrerLog::on_scan(const tidemark_record& record, std::span<const std::byte> payload,
                          const ThreadDefinitions& thread) {
    const auto& scan = record.heap_scan;
    scans_[&thread] = writer_.heap_scan({clock_.time_of(record.ticks), fact_from_word<ScanReason>(text_of(payload)),
                                         count_of(scan.duration_ns), count_of(scan.objects), count_of(scan.tensors)});
}

void ReferrerLog::on_referrer(const tidemark_record& record, std::span<const std::byte> payload,
                              const ThreadDefinitions& thread) {
    const auto scan = scans_.find(&thread);
    if (scan == scans_.end()) {
        return;
    }
    const auto& referrer = record.referrer;
    const MemoryTicket ticket{asker_, 0, referrers_.next_ticket()};
    referrers_.push({scan->second, referrer.node, std::string(text_of(payload))}, commit_,
                    memory_.find(referrer.device, referrer.address, referrer.sequence, ticket));
    pending_bytes_ += payload.size();
}

void ReferrerLog::report(const CommitTimePoint& commit) {
    commit_ = commit.number;
    for (; !referrers_.empty(); referrers_.pop()) {
        const auto& [referrer, arrived, is_answered, allocation] = referrers_.front();
        if (!is_answered && !commit.is_last && pending_bytes_ <= most_pending_bytes &&
            commit.number - arrived < commits_for_memory) {
            return;  // later rows arrived later and wait, too
        }
        write(referrer, allocation);
        pending_bytes_ -= referrer.links.size();
    }
}

std::string_view ReferrerLog::limited(std::string_view text) {
    texts_cut_ += text.size() > most_text_bytes;
    return cut_text(text, most_text_bytes);
}

void ReferrerLog::write(const Referrer& referrer, int64_t allocation) {
    StackTable& table = writer_.stacks();
    std::vector<PathLinkRow> links;
    std::string_view rest = referrer.links;
    while (const auto link = take_link(rest)) {
        const auto& [kind, name, function, file, line] = *link;
        links.push_back({fact_from_word<PathLinkKind>(limited(kind)), table.intern(limited(name)),
                         table.intern(limited(function)), table.intern(limited(file)), line_of(line)});
        source_.need(links.back().file, links.back().line);
    }
    writer_.referrer(referrer.scan, referrer.node, allocation, links);
}

}  // namespace tidemark::recorder
