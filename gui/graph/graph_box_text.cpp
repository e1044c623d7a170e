// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/graph/graph_box_text.h"

#include "gui/model/graph_text.h"
#include "gui/model/plural.h"
#include "gui/model/text.h"

namespace tidemark::gui {

namespace {

/// Returns "h.3" for the module "3" among "h.0 to h.11".
QString numbered(const GraphOutline& outline, const OutlineGroup& module) {
    GroupIndex above = module.parent;
    while (above != no_group && outline.group(above).kind == GroupKind::part) {
        above = outline.group(above).parent;
    }
    const QString name = to_qstring(module.name);
    if (above == no_group || outline.group(above).kind != GroupKind::repeat) {
        return name;
    }
    const QString first = to_qstring(outline.group(above).name).section(u'\n', 0, 0);
    return first.contains(u'.') ? first.section(u'.', 0, -2).section(u'.', -1) + u'.' + name : name;
}

}  // namespace

QString states_text(const GroupTotals& totals) {
    QStringList parts;
    for (const auto& [count, state] :
         {std::pair(totals.never_executed, NodeState::never_executed), std::pair(totals.executed, NodeState::executed),
          std::pair(totals.released, NodeState::released)}) {
        if (count > 0) {
            parts << GraphMap::tr("%1 %2").arg(count_text(count), state_text(state));
        }
    }
    return parts.join(QStringLiteral(", "));
}

QString place_text(const GraphIndex& index, NodeIndex node) {
    const QString type = to_qstring(index.type(node)), line = line_text(index, node);
    return line.isEmpty() ? type : GraphMap::tr("%1, %2").arg(type, line);
}

QString group_text(const GraphIndex& index, const GraphOutline& outline, const OutlineGroup& group) {
    const QString name = to_qstring(group.name);
    switch (group.kind) {
        case GroupKind::whole: return GraphMap::tr("everything");
        case GroupKind::graph: return place_text(index, group.representative);
        case GroupKind::graphs:
            return GraphMap::tr("%1 graph(s) like this", nullptr, plural(group.repeats)).arg(count_text(group.repeats));
        case GroupKind::module: return numbered(outline, group);
        case GroupKind::repeat:
            return GraphMap::tr("%1 to %2 (%3×)")
                .arg(name.section(u'\n', 0, 0), name.section(u'\n', 1))
                .arg(count_text(group.repeats));
        case GroupKind::run: return GraphMap::tr("%1 × (%2)").arg(count_text(group.repeats), name);
        case GroupKind::parameters: return GraphMap::tr("parameters");
        case GroupKind::part: break;
    }
    if (!name.isEmpty()) {
        const OutlineGroup& parent = outline.group(group.parent);
        return group.direct_nodes > 0 ? GraphMap::tr("nodes %1").arg(name)
                                      : GraphMap::tr("%1 of %2").arg(name, group_text(index, outline, parent));
    }
    return place_text(index, group.representative);
}

}  // namespace tidemark::gui
