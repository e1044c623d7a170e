// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/whatif/settings_bar.h"

#include <QCheckBox>
#include <QComboBox>
#include <QDoubleSpinBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QToolButton>
#include <algorithm>
#include <cmath>

namespace tidemark::gui {

namespace {

constexpr double gibibyte = 1 << 30;

/// Sizes in MiB; 0: no limit.
QString split_name(qulonglong megabytes) {
    return megabytes == 0 ? SettingsBar::tr("no limit") : QStringLiteral("%1 MiB").arg(megabytes);
}
/// 0: different numbers for different sizes.
QString divisions_name(qulonglong count) {
    return count == 0 ? SettingsBar::tr("by size") : count == 1 ? SettingsBar::tr("none") : QString::number(count);
}
/// 0: off.
QString threshold_name(double part) {
    return part <= 0 ? SettingsBar::tr("off") : QStringLiteral("%1 %").arg(part * 100);
}

qulonglong split_of(const AllocatorSettings& settings) {
    return settings.max_split_size == UINT64_MAX ? 0 : settings.max_split_size >> 20;
}

qulonglong divisions_of(const AllocatorSettings& settings) {
    const auto& all = settings.roundup_divisions;
    const bool is_one = std::all_of(all.begin(), all.end(), [&](uint64_t each) { return each == all.front(); });
    return is_one ? std::max<uint64_t>(all.front(), 1) : 0;
}

}  // namespace

SettingsBar::SettingsBar(QWidget* parent) : Toolbar(parent) {
    expandable_ = new QCheckBox(tr("Expandable segments"));
    expandable_->setToolTip(
        tr("expandable_segments: segments grow in place, so that free memory of different sizes joins. Helps when "
           "sizes vary from step to step."));
    add(expandable_);
    max_split_ = add_choice(tr("Max split size"),
                            tr("max_split_size_mb: larger blocks are never split, so that small requests cannot break "
                               "up the memory of large ones."));
    divisions_ = add_choice(tr("Roundup divisions"),
                            tr("roundup_power2_divisions: sizes are rounded up to one of so many between two powers of "
                               "two, so that similar requests can use the same blocks. Takes more memory per block."));
    threshold_ = add_choice(tr("Garbage collection"),
                            tr("garbage_collection_threshold: above this part of the memory limit, unused segments "
                               "are returned to the driver. Needs a memory limit."));
    limit_ = new QDoubleSpinBox;
    limit_->setRange(0, 4096);
    limit_->setDecimals(2);
    limit_->setSuffix(QStringLiteral(" GiB"));
    limit_->setSpecialValueText(tr("as recorded"));
    limit_->setStepType(QAbstractSpinBox::AdaptiveDecimalStepType);
    limit_->setKeyboardTracking(false);
    add_named(tr("Memory limit"), limit_,
              tr("The most that the allocator may reserve, as a smaller GPU or set_per_process_memory_fraction() would "
                 "enforce. 0 is that of the recorded run."));
    reset_ = tool_button(tr("Reset"), tr("Show the settings of the recorded run again"), [this] { show_recorded(); });
    add(reset_);
    connect(expandable_, &QCheckBox::toggled, this, &SettingsBar::report);
    connect(limit_, &QDoubleSpinBox::valueChanged, this, &SettingsBar::report);
    set_recorded({});
}

QComboBox* SettingsBar::add_choice(const QString& name, const QString& tip) {
    auto* box = new QComboBox;
    box->setSizeAdjustPolicy(QComboBox::AdjustToContents);
    add_named(name, box, tip);
    connect(box, &QComboBox::currentIndexChanged, this, &SettingsBar::report);
    return box;
}

void SettingsBar::add_named(const QString& name, QWidget* control, const QString& tip) {
    auto* pair = new QWidget;
    auto* row = new QHBoxLayout(pair);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(4);
    auto* label = new QLabel(name);
    label->setBuddy(control);
    label->setToolTip(tip);
    control->setToolTip(tip);
    control->setAccessibleName(name);
    control->setAccessibleDescription(tip);
    row->addWidget(label);
    row->addWidget(control);
    add(pair);
}

/// Offers `values`, and the recorded one if it is none of them. Selects the recorded one.
template <class Value>
void SettingsBar::fill(QComboBox* box, Value recorded, const std::vector<Value>& values, QString (*name)(Value)) {
    std::vector<Value> all = values;
    if (std::find(all.begin(), all.end(), recorded) == all.end()) {
        all.insert(std::upper_bound(all.begin(), all.end(), recorded), recorded);
    }
    box->clear();
    for (const Value value : all) {
        box->addItem(name(value), value);
    }
    box->setCurrentIndex(box->findData(recorded));
}

void SettingsBar::set_recorded(const AllocatorSettings& recorded) {
    recorded_ = recorded;
    is_filling_ = true;
    expandable_->setChecked(recorded.expandable_segments);
    fill<qulonglong>(max_split_, split_of(recorded), {0, 32, 64, 128, 256, 512, 1024}, split_name);
    fill<qulonglong>(divisions_, divisions_of(recorded), {1, 2, 4, 8, 16}, divisions_name);
    fill<double>(threshold_, recorded.garbage_collection_threshold, {0, 0.5, 0.6, 0.7, 0.8, 0.9}, threshold_name);
    limit_->setValue(0);
    is_filling_ = false;
    report();
}

void SettingsBar::show_recorded() { set_recorded(recorded_); }

AskedSettings SettingsBar::asked() const {
    AskedSettings asked;
    if (expandable_->isChecked() != recorded_.expandable_segments) {
        asked.change.expandable_segments = expandable_->isChecked();
    }
    if (const qulonglong split = max_split_->currentData().toULongLong(); split != split_of(recorded_)) {
        asked.change.max_split_size = split == 0 ? UINT64_MAX : uint64_t{split} << 20;
    }
    if (const qulonglong count = divisions_->currentData().toULongLong(); count != divisions_of(recorded_)) {
        asked.change.roundup_divisions.emplace().fill(count);
    }
    if (const double part = threshold_->currentData().toDouble(); part != recorded_.garbage_collection_threshold) {
        asked.change.garbage_collection_threshold = part;
    }
    if (limit_->value() > 0) {
        asked.limit = std::llround(limit_->value() * gibibyte);
    }
    return asked;
}

bool SettingsBar::asked_for_nothing() const {
    const AskedSettings now = asked();
    return !now.limit && !now.change.expandable_segments && !now.change.max_split_size &&
           !now.change.roundup_divisions && !now.change.garbage_collection_threshold;
}

void SettingsBar::report() {
    if (is_filling_) {
        return;
    }
    reset_->setEnabled(!asked_for_nothing());
    emit changed();
}

}  // namespace tidemark::gui
