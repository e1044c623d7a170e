// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The grouping of the Changes pane's table, and what the selection of a row does.
#include <QComboBox>
#include <QTableView>

#include "gui/changes/changes_pane.h"
#include "gui/model/grouping.h"
#include "gui/model/text.h"
#include "gui/widgets/code_table.h"
#include "gui/widgets/text_block.h"
#include "storage/explain/finding_parts.h"

namespace tidemark::gui {

namespace {

constexpr size_t most_callers = 4;

/// Returns the user's lines that lead to the site, innermost first: "train.py:81 main".
QStringList callers_of(const StackTable& stacks, StackId stack) {
    QStringList callers;
    bool is_behind_site = false;
    for (const FrameId frame : stacks.frames_of(stack)) {
        if (is_behind_site && stacks.role(frame) == FrameRole::user && callers.size() < qsizetype(most_callers)) {
            callers << to_qstring(describe_frame(stacks, frame));
        }
        is_behind_site = is_behind_site || stacks.is_site(frame, stacks.site(stack));
    }
    return callers;
}

/// Returns the line of one side, who calls it and its source. `only_line`: without the lines around it.
QString source_of_side(const QString& letter, const RowSide& side, const Trace& trace, bool only_line) {
    QString html = QStringLiteral("<b>%1</b> %2").arg(letter, to_qstring(line_of(trace, side.stack)).toHtmlEscaped());
    if (const QStringList callers = callers_of(trace.stacks, side.stack); !callers.isEmpty()) {
        html += QStringLiteral(" ← ") + callers.join(QStringLiteral(" ← ")).toHtmlEscaped();
    }
    SourceExcerpt source = source_of(trace, side.stack);
    if (only_line) {
        std::erase_if(source.lines, [&](const SourceLine& line) { return line.number != source.line; });
    }
    return html + (source.empty() ? QString() : source_table(source));
}

AllocationSet set_of(const std::optional<RowSide>& side) {
    return side ? std::make_shared<const std::vector<AllocationIndex>>(side->allocations) : nullptr;
}

}  // namespace

void ChangesPane::choose_grouping() {
    chosen_by_ = group_options()[static_cast<size_t>(by_->currentIndex())];
    request();
}

/// A comparison of two traces keeps the grouping that was selected in it: a swap shows another session.
void ChangesPane::follow_grouping() {
    if (!other_ || !chosen_by_) {
        by_->setCurrentIndex(place_of(session_->group_option()));
        schedule();
    }
}

/// Highlights the group's memory in every pane; a range stays. Of one run, that is its new memory.
void ChangesPane::select_row(int row) {
    if (!session_ || row < 0) {
        row_source_->hide();
        return;
    }
    const ChangedGroup& group = model_->group_at(row);
    if (other_) {
        select_row_of_traces(group);
        return;
    }
    AllocationSet memory;
    if (!group.new_allocations.empty()) {
        memory = std::make_shared<const std::vector<AllocationIndex>>(group.new_allocations);
    }
    session_->selection().select_memory(memory, memory ? tr("New: %1").arg(to_qstring(group.name)) : QString());
}

/// Selects A's memory in this window, and B's for when B is shown.
void ChangesPane::select_row_of_traces(const ChangedGroup& group) {
    const auto row = static_cast<size_t>(&group - shown_->changes.groups.data());
    const auto a = side_of_row(*shown_, row, DeviceToCompare(*session_), true);
    const auto b = side_of_row(*shown_, row, DeviceToCompare(*other_), false);
    session_->selection().select_memory(set_of(a), a ? group_text(shown_->by.by, a->name) : QString());
    other_->selection().select_memory(set_of(b), b ? group_text(shown_->by.by, b->name) : QString());
    show_row_source(a, b);
}

void ChangesPane::show_row_source(const std::optional<RowSide>& a, const std::optional<RowSide>& b) {
    QStringList parts;
    if (a && a->stack != 0) {
        parts << source_of_side(QStringLiteral("A"), *a, session_->trace(), is_low());
    }
    if (b && b->stack != 0) {
        parts << source_of_side(QStringLiteral("B"), *b, other_->trace(), is_low());
    }
    row_source_->show_html(QStringLiteral("<table width=\"100%\"><tr><td width=\"50%\">%1</td></tr></table>")
                               .arg(parts.join(QStringLiteral("</td><td width=\"50%\">"))));
    row_source_->setVisible(!parts.isEmpty());
}

QString ChangesPane::row_source() const { return row_source_->isHidden() ? QString() : row_source_->text(); }

void ChangesPane::select_table_row(int row) { table_->selectRow(row); }

}  // namespace tidemark::gui
