// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/model/text.h"

#include <QCoreApplication>
#include <QRegularExpression>
#include <algorithm>

#include "gui/model/explanation_source.h"
#include "storage/base/units.h"
#include "storage/base/utf8.h"
#include "storage/replay/repeated_step.h"
#include "storage/text/data_gap_words.h"
#include "storage/text/fact_words.h"
#include "storage/timeline/time_point.h"

namespace tidemark::gui {

namespace {

struct Text {
    Q_DECLARE_TR_FUNCTIONS(tidemark::gui::Text)
};

int64_t as_signed(uint64_t value) { return static_cast<int64_t>(value); }

}  // namespace

QString to_qstring(std::string_view text) { return QString::fromStdString(visible_text(text)); }
QString name_text(std::string_view name) {
    constexpr qsizetype longest = 300;
    const QString text = to_qstring(name.substr(0, 4 * longest));
    return text.size() > longest ? text.left(longest) + u'…' : text;
}
QString group_text(GroupBy by, const std::string& name) { return name_text(group_words(reader_words(), by, name)); }
QString lines_to_qstring(std::string_view text) { return QString::fromStdString(visible_lines(text)); }

QString tip_text(const QString& text) {
    return text.contains(u'<')
               ? QStringLiteral("<span style=\"white-space:pre-wrap\">%1</span>").arg(text.toHtmlEscaped())
               : text;
}

QString with_whole_units(const QString& text) {
    static const QRegularExpression unit(
        QStringLiteral("(\\d) (?=(?:[KMGTPE]iB|B|bytes?|ns|µs|ms|s|min|h|%|字节)(?![\\w]))"),
        QRegularExpression::UseUnicodePropertiesOption);
    return QString(text).replace(unit, QStringLiteral("\\1\u00a0"));
}

QString bytes_text(int64_t bytes) { return to_qstring(format_bytes(bytes)); }
QString bytes_text(uint64_t bytes) { return to_qstring(format_bytes(as_signed(bytes))); }

QString exact_bytes_text(uint64_t bytes) {
    return bytes == 1 ? Text::tr("1 byte") : Text::tr("%1 bytes").arg(count_text(as_signed(bytes)));
}

QString both_bytes_text(uint64_t bytes) {
    return bytes < 1024 ? exact_bytes_text(bytes)
                        : QStringLiteral("%1 (%2)").arg(bytes_text(bytes), exact_bytes_text(bytes));
}

QString signed_bytes_text(int64_t bytes) {
    const QString size = both_bytes_text(bytes < 0 ? -static_cast<uint64_t>(bytes) : static_cast<uint64_t>(bytes));
    return bytes < 0 ? QStringLiteral("−") + size : size;
}

QString change_text(int64_t bytes) {
    return bytes == 0  ? QStringLiteral("0")
           : bytes > 0 ? QStringLiteral("+") + bytes_text(bytes)
                       : QStringLiteral("−") + bytes_text(-bytes);
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
    const QString name = to_qstring(device.allocation_name(a)), earlier = QStringLiteral("before:");
    return name.startsWith(earlier) ? Text::tr("#before %1").arg(name.mid(earlier.size())) : '#' + name;
}

QString no_frames_text() { return to_qstring(reader_words()("no Python frame")); }

QString stack_text(const StackTable& stacks, StackId stack) {
    const FrameId site = stacks.site(stack);
    if (site == 0) {
        return stack == 0 ? no_frames_text()
                          : to_qstring(reader_words()("no site: only frames of the allocator and the interpreter"));
    }
    const FrameId innermost = stacks.innermost(stack);
    const QString line = to_qstring(describe_frame(stacks, site));
    return innermost == site ? line : line + QStringLiteral(" → ") + to_qstring(describe_frame(stacks, innermost));
}

QString site_file(const StackTable& stacks, StackId stack) {
    const FrameId site = stacks.site(stack);
    return is_python(stacks.role(site)) ? to_qstring(stacks.string(stacks.frame(site).file)) : QString();
}

QString stream_text(const Trace& trace, uint32_t stream) {
    if (stream >= trace.streams.size()) {
        return Text::tr("unknown stream");
    }
    const Stream& s = trace.streams[stream];
    if (!s.name.empty()) {
        return name_text(s.name);
    }
    return s.handle == 0 ? Text::tr("stream 0") : Text::tr("stream %1").arg(address_text(s.handle));
}

QString facts_text(const QStringList& facts) { return facts.join(Text::tr(", ", "between facts about one thing")); }

QString pool_text(const Trace& trace, uint32_t pool) {
    if (trace.event_source == EventSource::driver) {
        return Text::tr("driver");
    }
    if (pool >= trace.pools.size()) {
        return Text::tr("unknown pool");
    }
    const auto& owner = trace.pools[pool].owner;
    if (owner[0] == 0 && owner[1] == 0) {
        return Text::tr("default pool");
    }
    return Text::tr("private pool (%1, %2)").arg(owner[0]).arg(owner[1]);
}

Words reader_words() { return Words(ExplanationSource::language()); }

QString error_text(const Error& error) { return to_qstring(reader_words().translate(error.sentence)); }

bool is_about_sharing(const DataGap& data_gap) { return data_gap.reason == DataGapReason::redacted; }

QString data_gap_text(const DataGap& data_gap) { return to_qstring(data_gap_words(reader_words(), data_gap)); }

QString ended_text(const Process& process) { return to_qstring(process_end_words(reader_words(), process)); }

QString ended_text(const Trace& trace) {
    if (!trace.clean_end) {
        return Text::tr("The recorder ended without closing the trace. The last events may be missing.");
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

QString elided_line(const QFontMetrics& metrics, const QString& name, int width) {
    const qsizetype end = name.indexOf(u' ');
    const QString place = name.left(end);
    if (metrics.horizontalAdvance(name) <= width || end < 0 || !place.contains(u':')) {
        return metrics.elidedText(name, Qt::ElideMiddle, width);
    }
    const int room = width - metrics.horizontalAdvance(place);
    const QString function = metrics.elidedText(name.mid(end), Qt::ElideRight, std::max(room, 0));
    return function.size() > 2 ? place + function : metrics.elidedText(place, Qt::ElideLeft, width);
}

QString elided_group_name(const QFontMetrics& metrics, const QString& name, int width) {
    const auto [line, frame] = split_group_name(name);
    if (metrics.horizontalAdvance(name) <= width || frame.isEmpty()) {
        return elided_line(metrics, name, width);
    }
    const QString front = elided_line(metrics, line, width * 6 / 10) + ' ';
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

QString point_text(const Trace& trace, const DeviceHistory& device, const TimePoint& point) {
    QString event = Text::tr("event %1").arg(count_text(point.event));
    if (!has_times(trace, device)) {
        return event;
    }
    const int64_t time = time_of(device, point);
    const int64_t elapsed = point.between ? *point.between - device.time_of_state(point.event) : 0;
    const QString place = elapsed > 0
                              ? Text::tr("%1 after event %2").arg(duration_text(elapsed), count_text(point.event))
                          : elapsed < 0 ? Text::tr("%1 before the first event").arg(duration_text(-elapsed))
                                        : event;
    return time_point_text(time) + QStringLiteral(" · ") + place;
}

QString cursor_text(const Trace& trace, const DeviceHistory& device, const TimePoint& point) {
    const QString place = point_text(trace, device, point);
    const EventNumber state = point.repeated ? point.repeated->state : point.event;
    return state <= 0 || point.between
               ? Text::tr("cursor %1").arg(place)
               : Text::tr("cursor %1: %2").arg(place, to_qstring(event_words(reader_words(), device, state - 1)));
}

QString place_text(const std::optional<RepeatedPlace>& place) {
    return place && !place->is_at_end() ? to_qstring(reader_words().translate(describe_place(*place))) : QString();
}

QString place_sentence(const std::optional<RepeatedPlace>& place) {
    QString text = place_text(place);
    return text.isEmpty() ? text : text.replace(0, 1, text.at(0).toUpper());
}

QString category_text(Category category) { return to_qstring(category_name(reader_words(), category)); }

}  // namespace tidemark::gui
