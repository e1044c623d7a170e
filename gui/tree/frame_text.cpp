// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/tree/frame_text.h"

#include <QCoreApplication>
#include <QStringList>
#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "gui/model/plural.h"
#include "gui/model/text.h"

namespace tidemark::gui {

namespace {

struct Tree {
    Q_DECLARE_TR_FUNCTIONS(Tree)
};

const QString separator = QStringLiteral(" › ");

QString frame_function(const StackTable& stacks, FrameId frame) {
    const std::string& function = stacks.string(stacks.frame(frame).function);
    const QString name = name_text(is_python(stacks.role(frame)) ? function : native_name(function));
    return name.isEmpty() ? QStringLiteral("??") : name;
}

/// Returns "/home/ann/train.py:42"; empty for native functions, of which only the name is known.
QString frame_place(const StackTable& stacks, FrameId frame) {
    if (!is_located(stacks.role(frame))) {
        return {};
    }
    const Frame& f = stacks.frame(frame);
    const QString file = name_text(stacks.string(f.file));
    return f.line > 0 ? QStringLiteral("%1:%2").arg(file).arg(f.line) : file;
}

QString without_folders(const QString& path) { return path.mid(path.lastIndexOf(u'/') + 1); }

/// Returns a number for the name of a file that is the same in every run (FNV-1a).
uint32_t stable_number(std::string_view name) {
    uint32_t hash = 2166136261U;
    for (const char c : name) {
        hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
    }
    return hash;
}

QString tip_row(const QString& name, const QString& value) {
    return QStringLiteral("<tr><td>%1&nbsp;&nbsp;</td><td align=right>%2</td></tr>")
        .arg(name.toHtmlEscaped(), value.toHtmlEscaped());
}

QString allocations_text(uint32_t count) {
    return Tree::tr("%1 allocation(s)", nullptr, plural(count)).arg(count_text(count));
}

QString share_of(uint64_t part, uint64_t whole) {
    return percent_text(static_cast<double>(part), static_cast<double>(whole));
}

QString root_text(TreeMemory memory) {
    switch (memory) {
        case TreeMemory::at_cursor: return Tree::tr("all memory at the cursor");
        case TreeMemory::of_finding: return Tree::tr("the finding's memory at the cursor");
        case TreeMemory::grown_in_range: return Tree::tr("grown in the range");
    }
    return {};
}

QString node_name(const ShownTree& shown, const CallNode& node) {
    switch (node.kind) {
        case CallNodeKind::root: return root_text(shown.request.memory);
        case CallNodeKind::module: return name_text(shown.tree.module(node.module));
        case CallNodeKind::no_module: return group_text(GroupBy::module, "no module");
        case CallNodeKind::no_stack: return Tree::tr("no stack recorded");
        case CallNodeKind::no_frames:
            return shown.request.options.own_code_only ? Tree::tr("no frame of your own code")
                                                       : Tree::tr("only frames of the allocator and the interpreter");
        case CallNodeKind::frame: return frame_function(shown.stacks(), node.frame);
    }
    return {};
}

QString node_label(const ShownTree& shown, const CallNode& node) {
    const QString name = node_name(shown, node);
    const QString place = node.kind == CallNodeKind::frame ? frame_place(shown.stacks(), node.frame) : QString();
    return place.isEmpty() ? name : QStringLiteral("%1 (%2)").arg(name, without_folders(place));
}

/// Returns "GPT2.h.0.attn".
QString module_path(const ShownTree& shown, uint32_t n) {
    QString path;
    for (; shown.tree.node(n).kind == CallNodeKind::module; n = shown.tree.node(n).parent) {
        const QString name = name_text(shown.tree.module(shown.tree.node(n).module));
        path = path.isEmpty() ? name : name + u'.' + path;
    }
    return path;
}

bool is_number(std::string_view name) {
    return std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// Returns the name of the module; of one with a number, that of its container: all layers have one color.
std::string_view kind_of_module(const ShownTree& shown, uint32_t n) {
    const CallTree& tree = shown.tree;
    while (is_number(tree.module(tree.node(n).module)) && tree.node(n).parent != CallTree::root) {
        n = tree.node(n).parent;
    }
    return tree.module(tree.node(n).module);
}

}  // namespace

QString node_text(const ShownTree& shown, uint32_t n) {
    const CallNode& node = shown.tree.node(n);
    const QString label = node_label(shown, node);
    return n == CallTree::root
               ? Tree::tr("%1, %2", "memory, number of allocations").arg(label, allocations_text(node.count()))
               : label;
}

QString elided_frame(const QFontMetrics& metrics, const QString& text, int width) {
    // elidedText() may cut a text that fits exactly.
    if (metrics.horizontalAdvance(text) <= width) {
        return text;
    }
    const qsizetype end = text.lastIndexOf(QLatin1String(" ("));
    if (end < 0) {
        return metrics.elidedText(text, Qt::ElideRight, width);
    }
    const QString function = text.left(end + 2);
    const int room = width - metrics.horizontalAdvance(function);
    const QString place = metrics.elidedText(text.mid(end + 2), Qt::ElideLeft, room);
    return place.contains(u':') ? function + place : metrics.elidedText(text.left(end), Qt::ElideRight, width);
}

QString path_text(const ShownTree& shown, uint32_t first, uint32_t n, const QFontMetrics& metrics, int width) {
    QString text = node_text(shown, n);
    while (n != first) {
        n = shown.tree.node(n).parent;
        const QString longer = node_text(shown, n) + separator + text;
        // The node itself is the most specific name.
        const QString shorter = n == first ? longer : QStringLiteral("…") + separator + longer;
        if (metrics.horizontalAdvance(shorter) > width) {
            const QString cut = QStringLiteral("…") + separator + text;
            return metrics.horizontalAdvance(cut) > width ? text : cut;
        }
        text = longer;
    }
    return text;
}

QString node_tip(const ShownTree& shown, uint32_t first, uint32_t n) {
    const CallNode& node = shown.tree.node(n);
    const CallNode& parent = shown.tree.node(shown.tree.node(first).parent);
    const QString name = node.kind == CallNodeKind::module ? module_path(shown, n) : node_name(shown, node);
    QString html = QStringLiteral("<b>%1</b>").arg(name.toHtmlEscaped());
    for (uint32_t outer = n; outer != first && node.kind == CallNodeKind::frame;) {
        outer = shown.tree.node(outer).parent;
        html.prepend(node_text(shown, outer).toHtmlEscaped() + separator + QStringLiteral("<br>"));
    }
    if (node.kind == CallNodeKind::frame) {
        if (const QString place = frame_place(shown.stacks(), node.frame); !place.isEmpty()) {
            html += QStringLiteral("<br>") + place.toHtmlEscaped();
        }
    }
    html += QStringLiteral("<table cellspacing=0>");
    html += tip_row(Tree::tr("total"), both_bytes_text(node.total));
    if (node.kind == CallNodeKind::frame && shown.request.options.path == TreePath::top_down) {
        html += tip_row(Tree::tr("allocated by this line itself"), both_bytes_text(node.self));
    } else if (node.kind == CallNodeKind::module) {
        html += tip_row(Tree::tr("allocated by this module itself"), both_bytes_text(node.self));
    }
    html += tip_row(Tree::tr("allocations"), count_text(node.count()));
    if (n != CallTree::root) {
        html += tip_row(Tree::tr("of the whole"), share_of(node.total, shown.tree.node(CallTree::root).total));
        html += tip_row(Tree::tr("of the box above"), share_of(node.total, parent.total));
    }
    return html + QStringLiteral("</table>");
}

QString node_summary(const ShownTree& shown, uint32_t n) {
    const CallNode& node = shown.tree.node(n);
    const QString bytes =
        Tree::tr("%1: %2 in %3").arg(node_label(shown, node), bytes_text(node.total), allocations_text(node.count()));
    return n == CallTree::root ? bytes
                               : Tree::tr("%1, %2 of the whole")
                                     .arg(bytes, share_of(node.total, shown.tree.node(CallTree::root).total));
}

QString rest_tip(const ShownTree& shown, uint32_t first) {
    const uint32_t parent = shown.tree.node(first).parent;
    uint64_t bytes = 0;
    uint32_t boxes = 0, allocations = 0;
    for (uint32_t n = first; n < shown.tree.node(parent).end; n = shown.tree.node(n).end) {
        bytes += shown.tree.node(n).total;
        allocations += shown.tree.node(n).count();
        ++boxes;
    }
    return QStringLiteral("<b>%1</b><br>%2")
        .arg(Tree::tr("%1 box(es) too small to show", nullptr, plural(boxes)).arg(count_text(boxes)),
             Tree::tr("%1 in %2. Zoom in to see them.").arg(both_bytes_text(bytes), allocations_text(allocations)));
}

QColor node_color(const Theme& theme, const ShownTree& shown, uint32_t n) {
    constexpr double library_paleness = 0.68;
    const CallNode& node = shown.tree.node(n);
    if (node.kind == CallNodeKind::root) {
        return theme.grid;
    }
    if (is_hatched(node)) {
        return theme.unknown;
    }
    if (node.kind == CallNodeKind::module) {
        return id_color(theme, stable_number(kind_of_module(shown, n)));
    }
    const StackTable& stacks = shown.stacks();
    const FrameRole role = stacks.role(node.frame);
    const std::string_view file =
        is_located(role) ? std::string_view(stacks.string(stacks.frame(node.frame).file)) : "";
    // Without its folders: a file keeps its color on another machine.
    const QColor color =
        file.empty() ? theme.unknown : id_color(theme, stable_number(file.substr(file.find_last_of('/') + 1)));
    return is_own_code(role) ? color : mixed(color, theme.plot_background, library_paleness);
}

FoundFrames find_frames(const ShownTree& shown, const QString& text) {
    FoundFrames found;
    if (text.isEmpty()) {
        return found;
    }
    const CallTree& tree = shown.tree;
    std::unordered_map<FrameId, bool> known;
    const auto frame_matches = [&](FrameId frame) {
        const auto [entry, is_new] = known.try_emplace(frame, false);
        if (is_new) {
            entry->second = frame_function(shown.stacks(), frame).contains(text, Qt::CaseInsensitive) ||
                            frame_place(shown.stacks(), frame).contains(text, Qt::CaseInsensitive);
        }
        return entry->second;
    };
    const auto matches = [&](const CallNode& node) {
        return node.kind == CallNodeKind::module
                   ? name_text(tree.module(node.module)).contains(text, Qt::CaseInsensitive)
                   : node.kind == CallNodeKind::frame && frame_matches(node.frame);
    };
    found.is_found.resize(tree.nodes().size());
    uint32_t counted_to = 0;
    for (uint32_t n = 0; n < tree.nodes().size(); ++n) {
        const CallNode& node = tree.node(n);
        if (!matches(node)) {
            continue;
        }
        found.is_found[n] = true;
        ++found.count;
        if (n >= counted_to) {
            found.bytes += node.total;
            counted_to = node.end;
        }
    }
    return found;
}

}  // namespace tidemark::gui
