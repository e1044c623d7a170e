// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/source/source_rows.h"

#include <QCoreApplication>
#include <algorithm>
#include <cstdlib>
#include <optional>
#include <set>

#include "gui/model/plural.h"
#include "gui/model/text.h"
#include "storage/report/code_block.h"

namespace tidemark::gui {

namespace {

struct SourceWords {
    Q_DECLARE_TR_FUNCTIONS(SourceWords)
};

/// Returns the first line that a diff changes: 18 of "@@ -18 +18,2 @@".
int32_t line_of_diff(const std::string& diff) {
    const size_t place = diff.find("\n@@ -");
    return place == std::string::npos ? 0 : std::atoi(diff.c_str() + place + 5);
}

/// Returns whether a diff is about a file. It names the file from a folder of the program on.
bool is_diff_of(const std::string& diff, const std::string& file) {
    constexpr std::string_view begin = "--- ";
    const std::string_view head = std::string_view(diff).substr(0, diff.find('\n'));
    return head.starts_with(begin) && file.ends_with(head.substr(begin.size()));
}

void add_diff(LineNote& note, const std::string& diff) {
    for (const DiffLine& line : diff_lines(diff)) {
        if (line.part != DiffPart::head) {
            (line.part == DiffPart::removed ? note.removed : note.added) << to_qstring(line.text).mid(1);
        }
    }
}

std::optional<LineNote> note_of(const Explained& explained, const Finding& finding, StringId file) {
    const StackTable& stacks = explained.context->trace().stacks;
    LineNote note;
    note.text = to_qstring(finding.title);
    if (!finding.fixes.empty()) {
        const Fix& fix = finding.fixes.front();
        if (note.text.endsWith(u'.') || note.text.endsWith(u'。')) {
            note.text.chop(1);
        }
        note.text =
            SourceWords::tr("%1. Fix: %2", "title of a finding, text of a fix").arg(note.text, to_qstring(fix.text));
        note.text.remove(u'`');  // rows are plain text
        if (!fix.diff.empty()) {
            if (!is_diff_of(fix.diff, stacks.string(file))) {
                return std::nullopt;
            }
            note.line = line_of_diff(fix.diff);
            add_diff(note, fix.diff);
            return note;
        }
        note.code = fix.code.empty() ? QStringList() : lines_to_qstring(fix.code).split(u'\n');
    }
    const Frame& frame = stacks.frame(own_line(stacks, finding.stack));
    note.line = frame.line;
    return finding.stack != 0 && frame.file == file ? std::optional(note) : std::nullopt;
}

/// Adds rows in the order of the lines.
class RowList {
public:
    RowList(const Trace& trace, const std::vector<LineNote>& notes) : trace_(trace), notes_(notes) {}

    void add(int32_t number, const std::string* text, const LineMemory* memory) {
        if (last_ != 0 && number > last_ + 1) {
            SourceRow gap;
            gap.kind = SourceRow::Kind::gap;
            gap.text = SourceWords::tr("%1 line(s) without text", nullptr, plural(number - last_ - 1))
                           .arg(count_text(number - last_ - 1));
            rows_.push_back(gap);
        }
        last_ = number;
        text == nullptr ? reader_.skip() : void();
        SourceRow row;
        row.line = number;
        row.has_memory = memory != nullptr;
        row.bytes = memory != nullptr ? memory->bytes : LineBytes{};
        if (text != nullptr) {
            row.text = code_text(*text);
            row.spans = reader_.read(row.text);
        } else if (memory != nullptr) {
            row.text = SourceWords::tr("in %1").arg(name_text(trace_.stacks.string(memory->function)));
        }
        rows_.push_back(std::move(row));
        add_notes(number);
    }

    std::vector<SourceRow> take() { return std::move(rows_); }

private:
    void add_notes(int32_t number) {
        for (const LineNote& note : notes_) {
            if (note.line == number) {
                add_part(SourceRow::Kind::note, number, {note.text});
                add_part(SourceRow::Kind::removed, number, note.removed);
                add_part(SourceRow::Kind::added, number, note.added);
                add_part(SourceRow::Kind::code, number, note.code);
            }
        }
    }

    void add_part(SourceRow::Kind kind, int32_t number, const QStringList& lines) {
        PythonReader reader;
        for (const QString& line : lines) {
            SourceRow row;
            row.kind = kind;
            row.line = number;
            row.text = line;
            row.spans = kind == SourceRow::Kind::note ? std::vector<CodeSpan>() : reader.read(line);
            rows_.push_back(std::move(row));
        }
    }

    const Trace& trace_;
    const std::vector<LineNote>& notes_;
    PythonReader reader_;
    std::vector<SourceRow> rows_;
    int32_t last_ = 0;
};

}  // namespace

QString code_text(std::string_view line) {
    constexpr qsizetype tab = 4;
    QString text;
    for (size_t begin = 0; begin <= line.size();) {
        const size_t end = std::min(line.find('\t', begin), line.size());
        text += to_qstring(line.substr(begin, end - begin));
        text += end < line.size() ? QString(tab - text.size() % tab, u' ') : QString();
        begin = end + 1;
    }
    return text;
}

std::vector<LineNote> notes_of(const Explained& explained, StringId file) {
    std::vector<LineNote> notes;
    if (file >= explained.context->trace().stacks.string_count()) {
        return notes;  // the run has grown since it was explained
    }
    for (const Finding& finding : explained.explanation.findings) {
        if (finding.severity > Severity::waste) {
            continue;
        }
        const auto note = note_of(explained, finding, file);
        if (note && std::find(notes.begin(), notes.end(), *note) == notes.end()) {
            notes.push_back(*note);
        }
    }
    return notes;
}

std::vector<SourceRow> source_rows_of(const Trace& trace, const FileMemory* memory, const SourceFile& file,
                                      const std::vector<LineNote>& notes) {
    std::set<int32_t> numbers;
    for (const auto& [number, text] : file.lines) {
        numbers.insert(number);
    }
    if (memory != nullptr) {
        for (const LineMemory& line : memory->lines) {
            numbers.insert(line.line);
        }
    }
    RowList rows(trace, notes);
    size_t next = 0;
    for (const int32_t number : numbers) {
        const bool has_memory = memory != nullptr && next < memory->lines.size() && memory->lines[next].line == number;
        rows.add(number, file.line(number), has_memory ? &memory->lines[next] : nullptr);
        next += has_memory ? 1 : 0;
    }
    return rows.take();
}

}  // namespace tidemark::gui
