#include "gui/model/graph_text.h"

#include <QCoreApplication>
#include <QFileInfo>

#include "gui/model/text.h"

namespace tidemark::gui {

namespace {

struct Graphs {
    Q_DECLARE_TR_FUNCTIONS(Graphs)
};

QString text_of(const GraphTables& tables, uint32_t text) { return to_qstring(tables.texts[text]); }

QString place_text(const GraphTables& tables, const PathLink& link) {
    const QString file = QFileInfo(text_of(tables, link.file)).fileName();
    const QString place = link.line > 0 ? QStringLiteral("%1:%2").arg(file).arg(link.line) : file;
    const QString function = text_of(tables, link.function);
    return function.isEmpty() ? place : place.isEmpty() ? function : QStringLiteral("%1, %2").arg(function, place);
}

QString link_text(const GraphTables& tables, const PathLink& link) {
    const QString name = text_of(tables, link.name), place = place_text(tables, link);
    const std::string& kind = link.kind;
    if (kind == "local") {
        return place.isEmpty() ? Graphs::tr("variable %1").arg(name) : Graphs::tr("variable %1 of %2").arg(name, place);
    }
    if (kind == "global") {
        return place.isEmpty() ? Graphs::tr("global variable %1").arg(name)
                               : Graphs::tr("global variable %1 (%2)").arg(name, place);
    }
    if (kind == "attribute") {
        return Graphs::tr("attribute %1").arg(name);
    }
    if (kind == "item") {
        return Graphs::tr("item %1").arg(name);
    }
    if (kind == "index") {
        return Graphs::tr("element %1").arg(name);
    }
    if (kind == "element") {
        return Graphs::tr("an element");
    }
    if (kind == "closure") {
        return Graphs::tr("variable %1 of a closure").arg(name);
    }
    if (kind == "exception") {
        return name.isEmpty() ? Graphs::tr("an exception") : Graphs::tr("exception %1").arg(name);
    }
    if (kind == "hook") {
        return Graphs::tr("a hook");
    }
    if (kind == "ctx") {
        return Graphs::tr("the context of a custom function");
    }
    if (kind == "cycle") {
        return Graphs::tr("a reference cycle that waits for the garbage collector");
    }
    if (kind == "native") {
        return Graphs::tr("native code, invisible to Python");
    }
    return to_qstring(kind) + u' ' + name;
}

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
    const Frame& frame = stacks.frame(stacks.user_frame(stack));
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

QString state_text(NodeState state) {
    switch (state) {
        case NodeState::pending: return Graphs::tr("waiting for backward");
        case NodeState::kept: return Graphs::tr("kept after backward");
        case NodeState::released: return Graphs::tr("released");
        case NodeState::not_created: return Graphs::tr("not made yet");
        case NodeState::dead: return Graphs::tr("gone");
    }
    return {};
}

QString state_sentence(NodeState state) {
    switch (state) {
        case NodeState::pending: return Graphs::tr("It has never been given to backward.");
        case NodeState::kept: return Graphs::tr("It has run in backward and kept what it saved (retain_graph=True).");
        case NodeState::released:
            return Graphs::tr(
                "It released what it saved: a second backward through it raises, if it had saved anything.");
        case NodeState::not_created: return Graphs::tr("At this moment it is not made yet.");
        case NodeState::dead: return Graphs::tr("At this moment it is gone.");
    }
    return {};
}

QString nodes_text(int64_t count) {
    return count == 1 ? Graphs::tr("1 node") : Graphs::tr("%1 nodes").arg(count_text(count));
}

QString referrer_text(const GraphTables& tables, const Referrer& referrer) {
    QStringList links;
    for (const PathLink& link : referrer.links) {
        links << link_text(tables, link);
    }
    return links.join(QStringLiteral(" → "));
}

QString referrer_name(const GraphTables& tables, const Referrer& referrer) {
    return referrer.links.empty() ? QString() : link_text(tables, referrer.links.front());
}

}  // namespace tidemark::gui
