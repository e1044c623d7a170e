// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// Numbers and names as the panes show them. Thin, translated wrappers around storage/base/units.h.
#pragma once

#include <QFontMetrics>
#include <QString>
#include <Qt>

#include "storage/attribution/attribution.h"
#include "storage/base/result.h"
#include "storage/read/open_trace.h"
#include "storage/replay/time_point.h"
#include "storage/text/words.h"
#include "storage/trace/graph_tables.h"

namespace tidemark::gui {

/// The role under which a model gives a cell's exact text: bytes as digits, times in seconds.
constexpr int exact_text_role = Qt::UserRole + 1;

/// Returns text to show, as visible_text() of storage/base/utf8.h does: no text of a trace, name of a file or message
/// contains characters that change the lines or the direction of the text around it.
QString to_qstring(std::string_view text);
/// Like to_qstring(), for names that are painted: cut to what a line can show. Qt lays out a whole text, however long.
QString name_text(std::string_view name);
/// Returns the name of a group of allocations (AttributionGroup::name) in the reader's language.
QString group_text(GroupBy by, const std::string& name);
/// Like to_qstring(), but keeps line breaks: for source code.
QString lines_to_qstring(std::string_view text);
/// Returns text in whose lines no number is broken from its unit: for labels that wrap. Plain or rich text.
QString with_whole_units(const QString& text);
/// Returns text from a trace as a tooltip that Qt does not take for markup.
QString tip_text(const QString& text);

QString bytes_text(uint64_t bytes);        ///< "2.00 MiB"
QString bytes_text(int64_t bytes);         ///< the same
QString exact_bytes_text(uint64_t bytes);  ///< "2,097,152 bytes"
QString both_bytes_text(uint64_t bytes);   ///< "2.00 MiB (2,097,152 bytes)", or only "512 bytes" where they agree
QString signed_bytes_text(int64_t bytes);  ///< both_bytes_text() of a value that may be negative
/// Returns "+484 KiB" or "−2.00 MiB".
QString change_text(int64_t bytes);
QString count_text(int64_t count);  ///< "1,234,567"
QString percent_text(double part, double whole);
QString time_point_text(int64_t nanoseconds);
QString duration_text(int64_t nanoseconds);
/// Returns "1.234567 s · event 1,234", or between events "1.234567 s · 3.20 ms after event 1,234"; without times "event
/// 1,234".
QString point_text(const Trace& trace, const DeviceHistory& device, const TimePoint& point);
/// Returns the same as the point of the cursor, with what its event did: "cursor 1.234567 s · event 1,234: freed 2.00
/// MiB".
QString cursor_text(const Trace& trace, const DeviceHistory& device, const TimePoint& point);
/// Returns what is shown at a place within a repeated step, as a part of a line; empty at other points.
QString place_text(const std::optional<RepeatedPlace>& place);
/// Returns the same at the beginning of a sentence: with a capital.
QString place_sentence(const std::optional<RepeatedPlace>& place);
QString address_text(uint64_t address);

QString category_text(Category category);  ///< "saved for backward"

/// Returns "#1234", the number of the alloc event; "#1:1234" on device 1; "#before 3" for allocations older than the
/// history.
QString allocation_text(const DeviceHistory& device, AllocationIndex a);
/// Returns "train.py:42 forward → linear.py:134 linear": the user's line and the innermost frame, if that is another
/// one.
QString stack_text(const StackTable& stacks, StackId stack);
/// Returns the source file of the stack's site; empty if it is no Python code.
QString site_file(const StackTable& stacks, StackId stack);
/// Joins facts about one thing: "8 allocations, 105 GiB".
QString facts_text(const QStringList& facts);
/// Returns the words for a stack without frames.
QString no_frames_text();
QString stream_text(const Trace& trace, uint32_t stream);
QString pool_text(const Trace& trace, uint32_t pool);
/// Returns the words of the reader's language.
Words reader_words();
QString error_text(const Error& error);
QString data_gap_text(const DataGap& data_gap);
/// Returns whether it only says that the trace is a shared copy without some texts: no data is missing.
bool is_about_sharing(const DataGap& data_gap);
/// Returns how a recorded process ended, as a sentence; empty if it runs or the end is unknown.
QString ended_text(const Process& process);
/// Returns how the recording of a trace ended.
QString ended_text(const Trace& trace);
/// Splits a group's name into "train.py:42 forward" and "→ linear.py:134 forward", the frame that distinguishes groups
/// of that line; the latter may be empty.
std::pair<QString, QString> split_group_name(const QString& name);
/// Returns "train.py:42 forward" within `width` pixels: the line stays readable, the function is elided first.
QString elided_line(const QFontMetrics& metrics, const QString& name, int width);
/// Returns a group's name within `width` pixels. The user's line stays readable; the rest is elided in the middle.
QString elided_group_name(const QFontMetrics& metrics, const QString& name, int width);
/// Returns the stream or pool of the segment that contains an allocation; "unknown ..." if the segment is unknown.
QString stream_of_text(const Trace& trace, const DeviceHistory& device, AllocationIndex a);
QString pool_of_text(const Trace& trace, const DeviceHistory& device, AllocationIndex a);

/// Returns the bytes of the block beyond those requested.
inline uint64_t rounding_of(const Allocations& allocations, AllocationIndex a) {
    const uint64_t size = allocations.block_size[a], requested = allocations.requested[a];
    return size > requested ? size - requested : 0;
}

/// Parses "0x7f12", "7f12a4000000" or decimal digits.
std::optional<uint64_t> parse_address(const QString& text);

}  // namespace tidemark::gui
