// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/graph/graph_search.h"

#include <QRegularExpression>
#include <algorithm>
#include <array>
#include <map>

#include "gui/model/graph_text.h"
#include "gui/model/text.h"
#include "storage/base/units.h"

namespace tidemark::gui {

bool GraphQuery::matches(const RootGroup& group) const {
    return group.reachable_bytes > above &&
           std::all_of(words.begin(), words.end(), [&](const QString& word) { return group.matches(word); });
}

GraphQuery parse_graph_query(const QString& text) {
    static const QRegularExpression size(QStringLiteral("[>＞]\\s*([0-9.,]+\\s*[KMGTkmgt]?i?[Bb]?)"));
    GraphQuery query;
    QString rest = text;
    if (const QRegularExpressionMatch found = size.match(text); found.hasMatch()) {
        query.above = parse_bytes(found.captured(1).simplified().toStdString()).value_or(-1);
        rest.remove(found.capturedStart(), found.capturedLength());
    }
    query.words = rest.split(u' ', Qt::SkipEmptyParts);
    return query;
}

std::shared_ptr<const std::vector<NodeIndex>> find_nodes(const GraphIndex& index, const GraphState& time_point,
                                                         const GraphQuery& query, const Progress& progress) {
    const GraphTables& tables = index.tables();
    using Texts = std::array<uint32_t, 4>;
    std::vector<std::map<Texts, bool>> known(static_cast<size_t>(query.words.size()));
    const auto contains = [&](size_t word, NodeIndex node) {
        // Millions of nodes have only a few hundred different texts.
        const Texts texts{tables.nodes.type[node], tables.nodes.variable[node], tables.nodes.origin[node],
                          tables.nodes.stack[node]};
        const auto [entry, is_new] = known[word].try_emplace(texts);
        if (is_new) {
            const QString text = to_qstring(index.type(node)) + u'\n' + node_of_module_text(index, node) + u'\n' +
                                 line_text(index, node);
            entry->second = text.contains(query.words[static_cast<qsizetype>(word)], Qt::CaseInsensitive);
        }
        return entry->second;
    };
    auto found = std::make_shared<std::vector<NodeIndex>>();
    for (NodeIndex node = 0; node < tables.nodes.size(); ++node) {
        if (node % 4096 == 0 && progress.canceled) {
            return nullptr;
        }
        bool matches = time_point.is_alive(node) && time_point.shallow_bytes(node) > query.above;
        for (size_t word = 0; matches && word < known.size(); ++word) {
            matches = contains(word, node);
        }
        if (matches) {
            found->push_back(node);
        }
    }
    return found;
}

}  // namespace tidemark::gui
