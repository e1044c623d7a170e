// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/model/graph_text.h"

#include <QCoreApplication>
#include <QFileInfo>

#include "gui/model/text.h"
#include "storage/text/fact_words.h"
#include "storage/text/referrer_words.h"

namespace tidemark::gui {

namespace {

struct Graphs {
    Q_DECLARE_TR_FUNCTIONS(Graphs)
};

QString text_of(const GraphTables& tables, uint32_t text) { return to_qstring(tables.texts[text]); }

}  // namespace

QString node_text(const GraphIndex& index, NodeIndex node) {
    const GraphTables& tables = index.tables();
    const uint32_t variable = tables.nodes.variable[node];
    return variable != 0 ? text_of(tables, variable) : to_qstring(index.type(node));
}

QString node_of_module_text(const GraphIndex& index, NodeIndex node) {
    const Trace& trace = index.trace();
    const uint32_t origin = index.tables().nodes.origin[node];
    const QString module = origin < trace.origins.size() ? to_qstring(trace.origins[origin].module) : QString();
    const QString type = to_qstring(index.type(node));
    if (const uint32_t variable = index.tables().nodes.variable[node]; variable != 0) {
        return Graphs::tr("%1 of %2").arg(type, text_of(index.tables(), variable));
    }
    return module.isEmpty() ? type : Graphs::tr("%1 of %2").arg(type, module);
}

QString line_text(const GraphIndex& index, NodeIndex node) {
    const StackTable& stacks = index.trace().stacks;
    const StackId stack = index.tables().nodes.stack[node];
    if (stack == 0) {
        return {};
    }
    const FrameId site = stacks.site(stack);
    const Frame& frame = stacks.frame(site);
    if (!is_python(stacks.role(site))) {
        return to_qstring(describe_frame(stacks, site));
    }
    return QStringLiteral("%1:%2").arg(QFileInfo(to_qstring(stacks.string(frame.file))).fileName()).arg(frame.line);
}

QString steps_text(const Trace& trace, int32_t first, int32_t last) {
    if (first < 0) {
        return {};
    }
    const auto number = [&](int32_t step) { return trace.steps[static_cast<size_t>(step)].number; };
    return first == last ? Graphs::tr("step %1").arg(number(first))
                         : Graphs::tr("steps %1 to %2").arg(number(first)).arg(number(last));
}

QString state_text(NodeState state) { return to_qstring(node_state_name(reader_words(), state)); }

QString state_text(const GraphIndex& index, NodeIndex node, int64_t time) {
    return to_qstring(node_state_name(reader_words(), index, node, time));
}

QString state_sentence(const GraphIndex& index, NodeIndex node, int64_t time) {
    return to_qstring(node_state_sentence(reader_words(), index, node, time));
}

QString nodes_text(int64_t count) {
    return count == 1 ? Graphs::tr("1 node") : Graphs::tr("%1 nodes").arg(count_text(count));
}

QString referrer_text(const GraphTables& tables, const Referrer& referrer) {
    return to_qstring(retention_path_words(tables, reader_words(), referrer));
}

QString referrer_name(const GraphTables& tables, const Referrer& referrer) {
    return referrer.links.empty() ? QString() : to_qstring(link_words(tables, reader_words(), referrer.links.front()));
}

}  // namespace tidemark::gui
