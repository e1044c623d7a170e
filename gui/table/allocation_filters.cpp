// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/table/allocation_filters.h"

#include <QActionGroup>
#include <QComboBox>
#include <QLineEdit>
#include <QMenu>
#include <QToolButton>

#include "gui/model/palette.h"
#include "gui/model/session.h"
#include "gui/model/text.h"
#include "storage/base/units.h"
#include "storage/replay/repeated_step.h"

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

std::optional<int64_t> duration_of(QLineEdit& field) {
    return parsed(field, [](const QString& text) {
        const auto duration = parse_duration(text.toStdString());
        return duration && *duration >= 0 ? duration : std::nullopt;
    });
}

/// Returns the value of the checked action; nothing without one.
std::optional<uint32_t> chosen(const QActionGroup& group) {
    const QAction* action = group.checkedAction();
    return action != nullptr ? std::optional(action->data().toUInt()) : std::nullopt;
}

std::optional<StackId> selected_stack(const Session& session) {
    const SelectionState& selected = session.selection().state();
    return selected.allocation != no_allocation ? std::optional(session.device().allocations.stack[selected.allocation])
                                                : selected.stack;
}

}  // namespace

AllocationFilters::AllocationFilters(QWidget* parent) : Toolbar(parent) {
    group_by_ = new QComboBox;
    group_by_->setAccessibleName(tr("Group by"));
    group_by_->setToolTip(tr("Group by"));
    group_by_->addItems({tr("No groups"), tr("By line"), tr("By stack"), tr("By module"), tr("By category"),
                         tr("By pool"), tr("By stream"), tr("By iteration")});
    connect(group_by_, &QComboBox::currentIndexChanged, this, [this] { emit changed(false); });
    add(group_by_);
    text_ = add_field(tr("Function, file or line"),
                      tr("Part of a function, a file or file:line, anywhere in the stack"), 400);
    min_ = add_field(tr("from 1 MiB"), tr("Smallest block size"), 92);
    max_ = add_field(tr("to 2 GiB"), tr("Largest block size"), 92);
    min_lifetime_ = add_field(tr("from 1 ms"), tr("Shortest lifetime"), 84);
    max_lifetime_ = add_field(tr("to 2 s"), tr("Longest lifetime"), 84);
    address_ = add_field(tr("Address 0x…"), tr("Blocks that contain this address"), 160);
    auto* more = new QToolButton;
    more->setText(tr("Filter"));
    more->setToolTip(tr("More filters"));
    more->setAccessibleName(tr("More filters"));
    more->setPopupMode(QToolButton::InstantPopup);
    more->setAutoRaise(true);
    menu_ = new QMenu(more);
    menu_->setToolTipsVisible(true);
    more->setMenu(menu_);
    add(more);
    alive_ = add_check(tr("Alive at cursor"), tr("Only allocations that are in use at the cursor"));
    only_selection_ = add_check(tr("Selection"), tr("Only the selected memory, or that of the selected stack"));
    in_range_ =
        add_check(tr("Selected time range"), tr("Only allocations that are active in the range dragged in a plot"));
    never_freed_ = add_check(tr("Never freed"), tr("Only allocations that were alive when the trace ended"));
    pool_ = add_choices(tr("Pool"), QStringLiteral("pools"));
    category_ = add_choices(tr("Category"), QStringLiteral("categories"));
    set_session(nullptr);
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

QAction* AllocationFilters::add_check(const QString& text, const QString& tip) {
    QAction* action = menu_->addAction(text);
    action->setCheckable(true);
    action->setToolTip(tip);
    connect(action, &QAction::toggled, this, [this] { emit changed(false); });
    return action;
}

QActionGroup* AllocationFilters::add_choices(const QString& title, const QString& name) {
    auto* choices = menu_->addMenu(title);
    choices->setObjectName(name);
    auto* group = new QActionGroup(choices);
    group->setExclusionPolicy(QActionGroup::ExclusionPolicy::ExclusiveOptional);
    connect(group, &QActionGroup::triggered, this, [this] { emit changed(false); });
    return group;
}

void AllocationFilters::add_choice(QActionGroup* group, const QString& text, uint32_t value) {
    auto* action = static_cast<QMenu*>(group->parent())->addAction(QString(text).replace(u'&', QLatin1String("&&")));
    action->setCheckable(true);
    action->setData(value);
    group->addAction(action);
}

void AllocationFilters::set_session(const Session* session) {
    for (QActionGroup* group : {pool_, category_}) {
        static_cast<QMenu*>(group->parent())->clear();  // deletes the actions
    }
    if (session != nullptr) {
        for (uint32_t pool = 0; pool < session->trace().pools.size(); ++pool) {
            add_choice(pool_, pool_text(session->trace(), pool), pool);
        }
        for (int category = 0; category < category_count; ++category) {
            add_choice(category_, category_text(static_cast<Category>(category)), static_cast<uint32_t>(category));
        }
    }
}

void AllocationFilters::set_knows_categories(bool known) {
    static_cast<QMenu*>(category_->parent())->menuAction()->setVisible(known);
}

AllocationQuery AllocationFilters::query(const Session& session) {
    AllocationQuery query;
    query.text = text_->text().trimmed().toStdString();
    query.min_block_size = size_of(*min_).value_or(query.min_block_size);
    query.max_block_size = size_of(*max_).value_or(query.max_block_size);
    query.min_lifetime = duration_of(*min_lifetime_).value_or(query.min_lifetime);
    query.max_lifetime = duration_of(*max_lifetime_).value_or(query.max_lifetime);
    query.address = parsed(*address_, parse_address);
    const SelectionState& selected = session.selection().state();
    if (alive_->isChecked()) {
        query.alive_at = selected.time_point;
    }
    if (only_selection_->isChecked()) {
        query.memory = selected.memory;
        query.stack = query.memory ? std::nullopt : selected_stack(session);
    }
    if (in_range_->isChecked() && selected.range) {
        const TimeView& view = session.time_view();
        const auto state = [&](double place) { return last_state(session.device(), view.point_at(place)); };
        query.active_within = std::pair(state(selected.range->first), state(selected.range->second));
    }
    query.never_freed = never_freed_->isChecked();
    query.pool = chosen(*pool_);
    if (const auto category = chosen(*category_)) {
        query.category = static_cast<Category>(*category);
    }
    query.group_by = grouping();
    if (query.category || query.group_by == TableGrouping::category) {
        query.category_of = session.categories();
    }
    if (query.group_by == TableGrouping::iteration) {
        query.iterations = session.shared_iterations();
    }
    return query;
}

// --- Chips ------------------------------------------------------------------------------------------------------

void AllocationFilters::add_bounds_chip(std::vector<FilterChip>& chips, QLineEdit* from, QLineEdit* to,
                                        const QString& from_to, const QString& from_only, const QString& to_only) {
    const QString first = from->text().trimmed(), last = to->text().trimmed();
    if (first.isEmpty() && last.isEmpty()) {
        return;
    }
    chips.push_back({first.isEmpty()  ? to_only.arg(last)
                     : last.isEmpty() ? from_only.arg(first)
                                      : from_to.arg(first, last),
                     [from, to] {
                         from->clear();
                         to->clear();
                     }});
}

std::vector<FilterChip> AllocationFilters::chips(const Session& session) {
    std::vector<FilterChip> chips;
    const auto add_field_chip = [&](QLineEdit* field, const QString& name) {
        if (!field->text().trimmed().isEmpty()) {
            chips.push_back({name.arg(field->text().trimmed()), [field] { field->clear(); }});
        }
    };
    const auto add_check_chip = [&](QAction* check, const QString& name) {
        if (check->isChecked()) {
            chips.push_back({name, [check] { check->setChecked(false); }});
        }
    };
    const auto add_choice_chip = [&](QActionGroup* group, const QString& name) {
        if (QAction* action = group->checkedAction()) {
            chips.push_back({name.arg(action->text().replace(QLatin1String("&&"), QLatin1String("&"))), [this, action] {
                                 action->setChecked(false);
                                 emit changed(false);
                             }});
        }
    };
    const SelectionState& selected = session.selection().state();
    const auto stack = selected_stack(session);
    add_field_chip(text_, tr("Contains “%1”"));
    add_bounds_chip(chips, min_, max_, tr("Block size %1 to %2"), tr("Block size from %1"), tr("Block size up to %1"));
    add_bounds_chip(chips, min_lifetime_, max_lifetime_, tr("Lifetime %1 to %2"), tr("Lifetime from %1"),
                    tr("Lifetime up to %1"));
    add_field_chip(address_, tr("Address %1"));
    add_check_chip(alive_, tr("Alive at cursor"));
    add_check_chip(only_selection_, selected.memory && !selected.memory_name.isEmpty()
                                        ? tr("Selection: %1").arg(selected.memory_name)
                                    : selected.memory ? tr("Selection")
                                    : stack ? tr("Selection: %1").arg(stack_text(session.trace().stacks, *stack))
                                            : tr("Selection: nothing is selected"));
    add_check_chip(in_range_, selected.range
                                  ? tr("Active from %1 to %2")
                                        .arg(time_point_text(session.time_view().time_at(selected.range->first)),
                                             time_point_text(session.time_view().time_at(selected.range->second)))
                                  : tr("Time range: none is selected"));
    add_check_chip(never_freed_, tr("Never freed"));
    add_choice_chip(pool_, tr("Pool: %1"));
    add_choice_chip(category_, tr("Category: %1"));
    return chips;
}

bool AllocationFilters::follows_cursor() const {
    return alive_->isChecked() || category_->checkedAction() != nullptr || grouping() == TableGrouping::category;
}

bool AllocationFilters::follows_memory() const { return only_selection_->isChecked(); }
bool AllocationFilters::follows_selection() const { return follows_memory() || in_range_->isChecked(); }

TableGrouping AllocationFilters::grouping() const { return static_cast<TableGrouping>(group_by_->currentIndex()); }
void AllocationFilters::set_grouping(TableGrouping grouping) { group_by_->setCurrentIndex(static_cast<int>(grouping)); }

void AllocationFilters::show_selection_only() { only_selection_->setChecked(true); }

void AllocationFilters::focus_text() {
    text_->setFocus(Qt::ShortcutFocusReason);
    text_->selectAll();
}

}  // namespace tidemark::gui
