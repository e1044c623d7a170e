#include "recorder/daemon/holder_log.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <vector>

namespace tidemark::recorder {

namespace {

constexpr uint32_t commits_for_memory = 100;
constexpr size_t most_waiting_bytes = 16 << 20;
constexpr size_t texts_of_link = 5;

int64_t count_of(uint64_t number) { return static_cast<int64_t>(std::min<uint64_t>(number, INT64_MAX)); }

/// 0 where it is no number.
int32_t line_of(std::string_view text) {
    int32_t line = 0;
    std::from_chars(text.data(), text.data() + text.size(), line);
    return line;
}

/// Takes the text up to the next NUL off the front. Nothing: there is no NUL.
std::optional<std::string_view> take_text(std::string_view& rest) {
    const size_t end = rest.find('\0');
    if (end == std::string_view::npos) {
        return std::nullopt;
    }
    const std::string_view text = rest.substr(0, end);
    rest.remove_prefix(end + 1);
    return text;
}

/// The five texts of the next link. Nothing: it is not complete.
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

void HolderLog::on_scan(const tidemark_record& record, std::span<const std::byte> payload,
                        const ThreadDefinitions& thread) {
    const auto& scan = record.holder_scan;
    scans_[&thread] = writer_.holder_scan({clock_.time_of(record.ticks), std::string(text_of(payload)),
                                           count_of(scan.duration_ns), count_of(scan.objects), count_of(scan.tensors)});
}

void HolderLog::on_holder(const tidemark_record& record, std::span<const std::byte> payload,
                          const ThreadDefinitions& thread) {
    const auto scan = scans_.find(&thread);
    if (scan == scans_.end()) {
        return;
    }
    const auto& holder = record.holder;
    const MemoryTicket ticket{asker_, 0, holders_.next_ticket()};
    holders_.push({scan->second, holder.node, std::string(text_of(payload))}, commit_,
                  memory_.find(holder.device, holder.address, holder.sequence, ticket));
    waiting_bytes_ += payload.size();
}

void HolderLog::tell(const CommitMoment& commit) {
    commit_ = commit.number;
    for (; !holders_.empty(); holders_.pop()) {
        const auto& [holder, came, is_answered, allocation] = holders_.front();
        if (!is_answered && !commit.is_last && waiting_bytes_ <= most_waiting_bytes &&
            commit.number - came < commits_for_memory) {
            return;  // those behind it came later
        }
        write(holder, allocation);
        waiting_bytes_ -= holder.links.size();
    }
}

void HolderLog::write(const Holder& holder, int64_t allocation) {
    StackTable& table = writer_.stacks();
    std::vector<HolderLinkRow> links;
    std::string_view rest = holder.links;
    while (const auto link = take_link(rest)) {
        const auto& [kind, name, function, file, line] = *link;
        links.push_back({kind, table.intern(name), table.intern(function), table.intern(file), line_of(line)});
    }
    writer_.holder(holder.scan, holder.node, allocation, links);
}

}  // namespace tidemark::recorder
