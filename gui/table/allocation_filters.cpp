// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/table/allocation_filters.h"

#include <QCheckBox>
#include <QLineEdit>

#include "gui/model/palette.h"
#include "gui/model/session.h"
#include "gui/model/text.h"
#include "storage/base/units.h"

namespace tidemark::gui {

namespace {

void mark_valid(QLineEdit& field, bool valid) {
    QPalette colors = field.parentWidget()->palette();
    if (!valid) {
        colors.setColor(QPalette::Text, Theme::current().oom);
    }
    field.setPalette(colors);
}

/// Parses a field's text and marks it if that fails. Returns nothing for an empty or invalid field.
template <class Parse>
auto parsed(QLineEdit& field, Parse parse) {
    const QString text = field.text().trimmed();
    const auto value = text.isEmpty() ? decltype(parse(text))() : parse(text);
    mark_valid(field, text.isEmpty() || value.has_value());
    return value;
}

std::optional<uint64_t> size_of(QLineEdit& field) {
    return parsed(field, [](const QString& text) -> std::optional<uint64_t> {
        const auto size = parse_bytes(text.toStdString());
        return size && *size >= 0 ? std::optional(static_cast<uint64_t>(*size)) : std::nullopt;
    });
}

std::optional<StackId> selected_stack(const Session& session) {
    const SelectionState& selected = session.selection().state();
    return selected.allocation != no_allocation ? std::optional(session.device().allocations.stack[selected.allocation])
                                                : selected.stack;
}

}  // namespace

AllocationFilters::AllocationFilters(QWidget* parent) : Toolbar(parent) {
    text_ = add_field(tr("Function, file or line"),
                      tr("Part of a function, a file or file:line, anywhere in the stack"), 400);
    min_ = add_field(tr("from 1 MiB"), tr("Smallest block size"), 110);
    max_ = add_field(tr("to 2 GiB"), tr("Largest block size"), 110);
    address_ = add_field(tr("Address 0x…"), tr("Blocks that contain this address"), 160);
    alive_ = add_check(tr("Alive at cursor"), tr("Only allocations that are in use at the cursor"));
    only_selection_ =
        add_check(tr("Selection"), tr("Only the memory of the selected finding, or of the selected stack"));
    never_freed_ = add_check(tr("Never freed"), tr("Only allocations that were alive when the trace ended"));
}

QLineEdit* AllocationFilters::add_field(const QString& hint, const QString& tip, int width) {
    QLineEdit* field = input_field(hint, tip);
    field->setToolTip(tip);
    field->setMaximumWidth(width);
    field->setMinimumWidth(width / 2);
    connect(field, &QLineEdit::textChanged, this, [this] { emit changed(true); });
    add(field);
    return field;
}

QCheckBox* AllocationFilters::add_check(const QString& text, const QString& tip) {
    auto* box = new QCheckBox(text);
    box->setToolTip(tip);
    connect(box, &QCheckBox::toggled, this, [this] { emit changed(false); });
    add(box);
    return box;
}

AllocationQuery AllocationFilters::query(const Session& session) {
    AllocationQuery query;
    query.text = text_->text().trimmed().toStdString();
    query.min_block_size = size_of(*min_).value_or(query.min_block_size);
    query.max_block_size = size_of(*max_).value_or(query.max_block_size);
    query.address = parsed(*address_, parse_address);
    if (follows_cursor()) {
        query.alive_at = session.selection().state().time_point;
    }
    if (follows_selection()) {
        query.memory = session.selection().state().memory;
        query.stack = query.memory ? std::nullopt : selected_stack(session);
    }
    query.never_freed = never_freed_->isChecked();
    return query;
}

bool AllocationFilters::follows_cursor() const { return alive_->isChecked(); }

bool AllocationFilters::follows_selection() const { return only_selection_->isChecked(); }

void AllocationFilters::show_selection_only() { only_selection_->setChecked(true); }

void AllocationFilters::focus_text() {
    text_->setFocus(Qt::ShortcutFocusReason);
    text_->selectAll();
}

}  // namespace tidemark::gui
