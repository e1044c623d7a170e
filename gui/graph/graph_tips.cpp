// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The tooltips of boxes and saved tensors in the graph picture.
#include "gui/graph/graph_box_text.h"
#include "gui/graph/graph_painter.h"
#include "gui/model/graph_text.h"
#include "gui/model/plural.h"
#include "gui/model/text.h"

namespace tidemark::gui {

QString GraphPainter::describe(int b) const {
    const GraphBox& box = picture_->scene->boxes[static_cast<size_t>(b)];
    const GraphIndex& index = picture_->index();
    const GroupTotals totals = picture_->totals(box);
    QStringList lines{QStringLiteral("<b>%1</b>").arg(title(b).toHtmlEscaped())};
    if (const QString& place = texts_[static_cast<size_t>(b)].second_place; !place.isEmpty()) {
        lines << place.toHtmlEscaped();
    }
    if (box.referrer >= 0) {
        lines << GraphMap::tr("refers to %1 root(s)", nullptr, plural(picture_->referrer(box).roots.size()))
                     .arg(count_text(static_cast<int64_t>(picture_->referrer(box).roots.size())));
        lines << GraphMap::tr("retained size: %1 would be freed with it")
                     .arg(both_bytes_text(static_cast<uint64_t>(totals.retained_bytes)));
        return lines.join(QStringLiteral("<br>"));
    }
    if (box.is_node()) {
        lines << node_of_module_text(index, box.node).toHtmlEscaped();
        lines << state_text(index, box.node, picture_->time_point->time());
    } else {
        lines << nodes_text(static_cast<int64_t>(picture_->nodes(box).size())) + QStringLiteral(": ") +
                     states_text(totals);
    }
    lines << GraphMap::tr("shallow size: %1 of saved tensors")
                 .arg(both_bytes_text(static_cast<uint64_t>(totals.shallow_bytes)));
    lines << GraphMap::tr("retained size: %1 would be freed with it")
                 .arg(both_bytes_text(static_cast<uint64_t>(totals.retained_bytes)));
    if (totals.saved_alive + totals.saved_released > 0) {
        lines << GraphMap::tr("saved tensors: %1 alive, %2 released")
                     .arg(count_text(totals.saved_alive), count_text(totals.saved_released));
    }
    const QString line = line_text(index, box.node);
    const QString steps = steps_text(index.trace(), totals.first_step, totals.last_step);
    if (!line.isEmpty() || !steps.isEmpty()) {
        lines << (line.isEmpty()    ? GraphMap::tr("created in %1").arg(steps)
                  : steps.isEmpty() ? GraphMap::tr("created at %1").arg(line)
                                    : GraphMap::tr("created in %1 at %2").arg(steps, line))
                     .toHtmlEscaped();
    }
    if (box.is_group()) {
        lines << QStringLiteral("<i>%1</i>")
                     .arg(box.open ? GraphMap::tr("Backspace closes it") : GraphMap::tr("a double click opens it"));
    }
    return lines.join(QStringLiteral("<br>"));
}

QString GraphPainter::describe(const GraphPort& port) const {
    const GraphTables& tables = picture_->index().tables();
    const SavedTensors& saved = tables.saved;
    const AllocationRef memory = saved.allocation[port.saved];
    QStringList lines{GraphMap::tr("saved tensor <b>%1</b>, %2")
                          .arg(to_qstring(tables.texts[saved.name[port.saved]]).toHtmlEscaped(),
                               both_bytes_text(saved.bytes[port.saved]))};
    lines << (port.retained ? GraphMap::tr("alive") : GraphMap::tr("released"));
    if (memory) {
        const DeviceHistory& device = picture_->index().trace().devices[memory.device];
        lines << GraphMap::tr("in allocation %1 of %2, at %3")
                     .arg(allocation_text(device, memory.index),
                          bytes_text(device.allocations.block_size[memory.index]),
                          address_text(device.allocations.address[memory.index] + saved.offset[port.saved]));
    } else {
        lines << GraphMap::tr("its memory is not on the device, or is unknown");
    }
    lines << GraphMap::tr("version %1").arg(saved.version[port.saved]);
    if (saved.is_view[port.saved]) {
        lines << GraphMap::tr("a view of other memory");
    }
    if (saved.is_packed[port.saved]) {
        lines << GraphMap::tr("packed by hooks");
    }
    return lines.join(QStringLiteral("<br>"));
}

}  // namespace tidemark::gui
