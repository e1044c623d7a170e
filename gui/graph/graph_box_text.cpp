// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/graph/graph_box_text.h"

#include "gui/model/graph_text.h"
#include "gui/model/plural.h"
#include "gui/model/text.h"

namespace tidemark::gui {

namespace {

/// Returns the part of a repeat's name that its modules share: "transformer.h" of "transformer.h.0\ntransformer.h.11".
std::string shared_prefix(const OutlineGroup& repeat) {
    const std::string first = repeat.name.substr(0, repeat.name.find('\n'));
    const size_t dot = first.rfind('.');
    return dot == std::string::npos ? std::string() : first.substr(0, dot);
}

std::string joined(const std::string& path, const std::string& name) {
    return path.empty() || name.empty() ? path + name : path + '.' + name;
}

}  // namespace

std::string module_path(const GraphOutline& outline, const OutlineGroup& group) {
    const std::string above =
        group.parent == no_group ? std::string() : module_path(outline, outline.group(group.parent));
    return group.kind == GroupKind::module   ? joined(above, group.name)
           : group.kind == GroupKind::repeat ? joined(above, shared_prefix(group))
                                             : above;
}

QString states_text(const GroupTotals& totals) {
    QStringList parts;
    for (const auto& [count, state] :
         {std::pair(totals.never_executed, NodeState::never_executed), std::pair(totals.executed, NodeState::executed),
          std::pair(totals.released, NodeState::released)}) {
        if (count > 0) {
            parts << GraphMap::tr("%1 %2").arg(count_text(count), state_text(state));
        }
    }
    return facts_text(parts);
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
        case GroupKind::module: return to_qstring(module_path(outline, group));
        case GroupKind::repeat: {
            const size_t cut = group.name.find('\n');
            const std::string above =
                group.parent == no_group ? std::string() : module_path(outline, outline.group(group.parent));
            return GraphMap::tr("%1 to %2 (%3×)")
                .arg(to_qstring(joined(above, group.name.substr(0, cut))), to_qstring(group.name.substr(cut + 1)),
                     count_text(group.repeats));
        }
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
