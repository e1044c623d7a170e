// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/story/finding_body.h"

#include <QClipboard>
#include <QGuiApplication>
#include <QPushButton>
#include <QToolButton>
#include <QUrl>
#include <QVBoxLayout>

#include "gui/model/palette.h"
#include "gui/model/plural.h"
#include "gui/model/text.h"
#include "gui/story/retention_path_view.h"
#include "gui/widgets/code_table.h"
#include "gui/widgets/severity_mark.h"
#include "gui/widgets/text_block.h"
#include "gui/widgets/toolbar.h"
#include "storage/report/code_block.h"
#include "storage/report/phrases.h"

namespace tidemark::gui {

namespace {
constexpr int gap = 4;
}

QString fix_text(const Fix& fix) {
    const QString text = to_qstring(fix.text);
    const std::string& code = fix.diff.empty() ? fix.code : fix.diff;
    return code.empty() ? text : text + QStringLiteral("\n\n") + lines_to_qstring(code) + u'\n';
}

FindingBody::FindingBody(const std::shared_ptr<const Explained>& explained, const Finding& finding, QWidget* parent)
    : QWidget(parent), column_(new QVBoxLayout(this)) {
    column_->setContentsMargins(0, 0, 0, 0);
    column_->setSpacing(gap);
    add_source(finding);
    add_story(finding);
    add_path(finding);
    add_evidence(finding);
    add_fixes(*explained, finding);
    add_confidence(finding, explained->words());
}

void FindingBody::add_heading(const QString& text) {
    column_->addSpacing(gap);
    add_text(text, QStringLiteral("<b>%1</b>").arg(text.toHtmlEscaped()));
}

void FindingBody::add_text(const QString& name, const QString& html) {
    auto* block = new TextBlock(name);
    block->show_html(html);
    column_->addWidget(block);
}

void FindingBody::add_story(const Finding& finding) {
    for (const std::string& paragraph : finding.text) {
        add_text(tr("What happened"), rich_text(to_qstring(paragraph)));
    }
}

void FindingBody::add_source(const Finding& finding) {
    if (!finding.source.empty()) {
        add_text(tr("Source"), source_table(finding.source));
    }
}

void FindingBody::add_path(const Finding& finding) {
    if (finding.path.empty()) {
        return;
    }
    add_heading(tr("Retention path"));
    auto* path = new RetentionPathView(finding.path);
    connect(path, &RetentionPathView::step_requested, this, &FindingBody::path_step_requested);
    column_->addWidget(path);
}

/// Links to all allocations of the finding.
void FindingBody::add_memory(const Finding& finding) {
    const auto count = static_cast<int64_t>(finding.memory.allocations.size());
    if (count == 0) {
        return;
    }
    auto* link = new TextBlock(tr("Memory of the finding"));
    link->setObjectName(QStringLiteral("memory"));
    link->show_html(QStringLiteral("<a href=\"memory\">%1</a>")
                        .arg(tr("%1 allocation(s) with %2, in the table", nullptr, plural(count))
                                 .arg(count_text(count), bytes_text(finding.memory.bytes))
                                 .toHtmlEscaped()));
    connect(link, &QTextBrowser::anchorClicked, this, &FindingBody::memory_requested);
    column_->addWidget(link);
}

void FindingBody::add_evidence(const Finding& finding) {
    add_heading(tr("Evidence"));
    add_memory(finding);
    QString rows;
    for (size_t i = 0; i < finding.evidence.size(); ++i) {
        rows += QStringLiteral("<tr><td style=\"padding-right:5px\">%1.</td><td><a href=\"%2\">%3</a></td></tr>")
                    .arg(i + 1)
                    .arg(i)
                    .arg(rich_text(to_qstring(finding.evidence[i].text)));
    }
    if (!rows.isEmpty()) {
        auto* links = new TextBlock(tr("Evidence"));
        links->show_html(QStringLiteral("<table cellspacing=\"0\" cellpadding=\"1\">%1</table>").arg(rows));
        connect(links, &QTextBrowser::anchorClicked, this,
                [this](const QUrl& url) { emit evidence_requested(url.toString().toInt()); });
        column_->addWidget(links);
    }
    auto* walk = new QPushButton(tr("Show me"));
    walk->setObjectName(QStringLiteral("show_me"));
    walk->setToolTip(tr("Shows the evidence step by step in every pane"));
    walk->setAccessibleName(tr("Show me the evidence of this finding"));
    connect(walk, &QPushButton::clicked, this, &FindingBody::walk_requested);
    column_->addWidget(walk, 0, Qt::AlignLeft);
}

void FindingBody::add_fixes(const Explained& explained, const Finding& finding) {
    if (finding.fixes.empty()) {
        return;
    }
    if (finding.fixes.size() == 1) {
        add_heading(tr("Recommended fix"));
    } else {
        add_heading(finding.severity == Severity::failure ? tr("Recommended fixes, best first")
                                                          : tr("Recommended fixes, any one of them"));
    }
    for (const Fix& fix : finding.fixes) {
        add_fix(explained, finding, fix);
    }
}

void FindingBody::add_fix(const Explained& explained, const Finding& finding, const Fix& fix) {
    auto* copy = tool_button(tr("Copy"), tr("Copy the recommended fix with its code"),
                             [text = fix_text(fix)] { QGuiApplication::clipboard()->setText(text); });
    copy->setObjectName(QStringLiteral("copy_fix"));
    const Theme theme = Theme::current();
    const QString gain = to_qstring(gain_phrase(finding, fix, explained.words()));
    auto* text = new TextBlock(tr("Recommended fix"));
    text->show_html(rich_text(to_qstring(fix.text)) + (gain.isEmpty()
                                                           ? QString()
                                                           : QStringLiteral(" <span style=\"color:%1\">%2</span>")
                                                                 .arg(theme.faint_text.name(), gain.toHtmlEscaped())));
    auto* row = new QHBoxLayout;
    row->setSpacing(gap);
    row->addWidget(text, 1);
    row->addWidget(copy, 0, Qt::AlignTop);
    column_->addLayout(row);
    if (!fix.diff.empty()) {
        add_text(tr("Change of the source"), diff_table(fix.diff));
    } else if (!fix.code.empty()) {
        add_text(
            tr("Code"),
            code_table(
                QStringLiteral("<tr>%1</tr>").arg(code_cell(lines_to_qstring(fix.code).toHtmlEscaped(), theme.text))));
    }
}

void FindingBody::add_confidence(const Finding& finding, const Words& words) {
    const QString faint = Theme::current().faint_text.name();
    QString html = QStringLiteral("<p style=\"margin:0; color:%1\">%2</p>")
                       .arg(faint, tr("Confidence: %1").arg(rich_text(to_qstring(confidence_phrase(finding, words)))));
    for (const std::string& unknown : finding.unknowns) {
        html += QStringLiteral("<p style=\"margin:3px 0 0 0; color:%1\">%2</p>")
                    .arg(faint, tr("Unknown: %1").arg(rich_text(to_qstring(unknown))));
    }
    column_->addSpacing(gap);
    add_text(tr("How the finding was determined"), html);
}

}  // namespace tidemark::gui
