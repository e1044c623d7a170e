#include "gui/model/text.h"

#include <QCoreApplication>
#include <QRegularExpression>
#include <algorithm>
#include <numeric>

#include "storage/base/units.h"

namespace tidemark::gui {

namespace {

struct Text {
    Q_DECLARE_TR_FUNCTIONS(tidemark::gui::Text)
};

int64_t as_signed(uint64_t value) { return static_cast<int64_t>(value); }

}  // namespace

QString to_qstring(std::string_view text) {
    return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size()));
}

QString tip_text(const QString& text) {
    return text.contains(u'<') ? QStringLiteral("<span>%1</span>").arg(text.toHtmlEscaped()) : text;
}

QString bytes_text(uint64_t bytes) { return to_qstring(format_bytes(as_signed(bytes))); }

QString exact_bytes_text(uint64_t bytes) {
    return bytes == 1 ? Text::tr("1 byte") : Text::tr("%1 bytes").arg(count_text(as_signed(bytes)));
}

QString both_bytes_text(uint64_t bytes) {
    return bytes < 1024 ? exact_bytes_text(bytes)
                        : QStringLiteral("%1 (%2)").arg(bytes_text(bytes), exact_bytes_text(bytes));
}

QString signed_bytes_text(int64_t bytes) {
    const QString size = both_bytes_text(static_cast<uint64_t>(bytes < 0 ? -bytes : bytes));
    return bytes < 0 ? QStringLiteral("−") + size : size;
}

QString count_text(int64_t count) { return to_qstring(format_count(count)); }

QString percent_text(double part, double whole) {
    if (whole <= 0) {
        return QStringLiteral("–");
    }
    const double percent = 100 * part / whole;
    const bool needs_digit = percent != 0 && percent < 9.95;
    return QStringLiteral("%1 %").arg(percent, 0, 'f', needs_digit ? 1 : 0);
}

QString time_point_text(int64_t nanoseconds) { return to_qstring(format_time_point(nanoseconds)); }
QString duration_text(int64_t nanoseconds) { return to_qstring(format_duration(nanoseconds)); }
QString address_text(uint64_t address) { return to_qstring(format_address(address)); }

QString allocation_text(const DeviceHistory& device, AllocationIndex a) {
    const int64_t in_device = device.allocation_id(a) & ((int64_t{1} << event_id_shift) - 1);
    if ((in_device & preexisting_bit) != 0) {
        return Text::tr("#before %1").arg(in_device & ~preexisting_bit);
    }
    return QStringLiteral("#%1").arg(in_device);
}

QString no_frames_text() { return Text::tr("no Python frame"); }

QString stack_text(const StackTable& stacks, StackId stack) {
    const FrameId user = stacks.user_frame(stack);
    if (user == 0) {
        return no_frames_text();
    }
    const FrameId innermost = stacks.stack(stack).frame;
    const QString line = to_qstring(describe_frame(stacks, user));
    return innermost == user ? line : line + QStringLiteral(" → ") + to_qstring(describe_frame(stacks, innermost));
}

QString stream_text(const Trace& trace, uint32_t stream) {
    if (stream >= trace.streams.size()) {
        return Text::tr("unknown stream");
    }
    const Stream& s = trace.streams[stream];
    if (!s.name.empty()) {
        return to_qstring(s.name);
    }
    return s.handle == 0 ? Text::tr("stream 0") : Text::tr("stream %1").arg(address_text(s.handle));
}

QString pool_text(const Trace& trace, uint32_t pool) {
    if (pool >= trace.pools.size()) {
        return Text::tr("unknown pool");
    }
    const auto& owner = trace.pools[pool].owner;
    if (owner[0] == 0 && owner[1] == 0) {
        return Text::tr("default pool");
    }
    return Text::tr("private pool (%1, %2)").arg(owner[0]).arg(owner[1]);
}

namespace {

/// Returns the number and the share of bytes of allocations without a stack.
QString no_stacks_text(const Trace& trace, const DataGap& data_gap) {
    int64_t allocations = 0;
    double bytes = 0;
    for (const DeviceHistory& device : trace.devices) {
        if (data_gap.device < 0 || data_gap.device == device.device) {
            const auto& requested = device.allocations.requested;
            allocations += static_cast<int64_t>(device.allocations.size());
            bytes = std::accumulate(requested.begin(), requested.end(), bytes);
        }
    }
    return Text::tr(
               "%1 of %2 allocations (%3 of the bytes) carry no stack: PyTorch records none for memory allocated on "
               "the backward thread, or stacks were off.")
        .arg(count_text(data_gap.count), count_text(allocations),
             percent_text(static_cast<double>(data_gap.bytes), bytes));
}

}  // namespace

QString data_gap_text(const Trace& trace, const DataGap& data_gap) {
    const QString count = count_text(data_gap.count);
    switch (data_gap.kind) {
        case DataGapKind::history_truncated:
            return Text::tr(
                       "The history does not reach back to the start of the run (recording began late, or the ring "
                       "buffer dropped its oldest events). The %1 allocations alive at its first event were rebuilt "
                       "from its end; peaks and totals count from that event.")
                .arg(count);
        case DataGapKind::block_size_guessed:
            return Text::tr(
                       "%1 blocks from before the history were freed before their exact size showed; each may have "
                       "been up to 1 MiB larger than drawn.")
                .arg(count);
        case DataGapKind::events_inconsistent:
            return Text::tr(
                       "%1 events or blocks contradict the allocator's rules or the state at the end; sizes near "
                       "them may be wrong.")
                .arg(count);
        case DataGapKind::unknown_actions:
            return Text::tr(
                       "%1 events have an action this version does not know; they are kept and shown, but not "
                       "understood.")
                .arg(count);
        case DataGapKind::pool_unknown:
            return Text::tr(
                       "For %1 segments the memory pool was not recorded (PyTorch before 2.12) and they were gone at "
                       "the end; they are shown in the default pool.")
                .arg(count);
        case DataGapKind::recorder_overrun: return Text::tr("The recorder could not keep up; some events are missing.");
        case DataGapKind::unclean_end:
            return Text::tr("The recording was not ended cleanly; what came last may be missing.");
        case DataGapKind::no_stacks: return no_stacks_text(trace, data_gap);
        case DataGapKind::no_times:
            return Text::tr(
                "The snapshot carries no times (PyTorch before 2.2): events are drawn one microsecond "
                "apart.");
        case DataGapKind::redacted:
            return Text::tr("Before this trace was shared, names were replaced or parts were cut out.");
        // The recorder's own sentence names the reason and the fix.
        case DataGapKind::not_recorded:
        case DataGapKind::state_disagrees: return to_qstring(data_gap.text);
    }
    return to_qstring(data_gap.text);
}

QString ended_text(const Process& process) {
    const QString how = to_qstring(process.how_ended);
    if (how.isEmpty()) {
        return {};
    }
    if (how == QLatin1String("stopped")) {
        return Text::tr("Recording was stopped; the program went on.");
    }
    if (how.startsWith(QLatin1String("exited"))) {
        const QString status = process.exit_status ? QString::number(*process.exit_status) : how.section(u' ', 1);
        return status.isEmpty() || status == QLatin1String("0")
                   ? Text::tr("The program ended.")
                   : Text::tr("The program exited with status %1.").arg(status);
    }
    static const QString signal = QStringLiteral("killed by signal ");
    if (how.startsWith(signal)) {
        return Text::tr("The program was killed by signal %1.").arg(how.mid(signal.size()));
    }
    static const QString exception = QStringLiteral("exception: ");
    if (how.startsWith(exception)) {
        return Text::tr("The program ended with an exception: %1").arg(how.mid(exception.size()));
    }
    return how;
}

QString ended_text(const Trace& trace) {
    if (!trace.clean_end) {
        return Text::tr("The recorder is gone without ending the trace; what came last may be missing.");
    }
    const QString how = trace.processes.empty() ? QString() : ended_text(trace.processes.front());
    return how.isEmpty() ? Text::tr("The recording has ended.") : Text::tr("The recording has ended. %1").arg(how);
}

std::pair<QString, QString> split_group_name(const QString& name) {
    static const QRegularExpression arrow(QStringLiteral(" [→←] "));
    const auto found = arrow.match(name);
    return found.hasMatch() ? std::pair(name.left(found.capturedStart()), name.mid(found.capturedStart() + 1))
                            : std::pair(name, QString());
}

QString elided_group_name(const QFontMetrics& metrics, const QString& name, int width) {
    const auto [line, frame] = split_group_name(name);
    if (metrics.horizontalAdvance(name) <= width || frame.isEmpty()) {
        return metrics.elidedText(name, Qt::ElideMiddle, width);
    }
    const QString front = metrics.elidedText(line, Qt::ElideRight, width * 6 / 10) + ' ';
    return front + metrics.elidedText(frame, Qt::ElideMiddle, std::max(width - metrics.horizontalAdvance(front), 0));
}

QString stream_of_text(const Trace& trace, const DeviceHistory& device, AllocationIndex a) {
    const uint32_t segment = device.allocations.segment[a];
    return segment == no_segment ? Text::tr("unknown stream") : stream_text(trace, device.segments[segment].stream);
}

QString pool_of_text(const Trace& trace, const DeviceHistory& device, AllocationIndex a) {
    const uint32_t segment = device.allocations.segment[a];
    if (segment == no_segment || !device.segments[segment].pool_known) {
        return Text::tr("unknown pool");
    }
    return pool_text(trace, device.segments[segment].pool);
}

std::optional<uint64_t> parse_address(const QString& text) {
    const QString digits = text.trimmed();
    bool ok = false;
    const bool prefixed = digits.startsWith(QLatin1String("0x"), Qt::CaseInsensitive);
    uint64_t value = prefixed ? digits.mid(2).toULongLong(&ok, 16) : digits.toULongLong(&ok, 10);
    if (!ok && !prefixed) {
        value = digits.toULongLong(&ok, 16);
    }
    return ok ? std::optional<uint64_t>(value) : std::nullopt;
}

QString category_text(Category category) {
    switch (category) {
        case Category::unknown: return Text::tr("unknown");
        case Category::parameter: return Text::tr("parameter");
        case Category::buffer: return Text::tr("buffer");
        case Category::gradient: return Text::tr("gradient");
        case Category::optimizer_state: return Text::tr("optimizer state");
        case Category::saved: return Text::tr("saved for backward");
        case Category::input: return Text::tr("input");
        case Category::output: return Text::tr("output");
        case Category::temporary: return Text::tr("temporary");
        case Category::workspace: return Text::tr("workspace");
        case Category::communication: return Text::tr("communication");
    }
    return {};
}

}  // namespace tidemark::gui
