// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/timeline/finding_flags.h"

#include <algorithm>

#include "gui/model/evidence_place.h"
#include "gui/model/explained.h"
#include "gui/model/text.h"
#include "gui/widgets/text_block.h"
#include "storage/replay/repeated_step.h"
#include "storage/report/phrases.h"

namespace tidemark::gui {

namespace {

TimePoint begin_of(const Session& session, const Explained& explained, const Finding& finding) {
    if (finding.since) {
        return time_point_at(session.trace(), session.device(), *finding.since);
    }
    const auto timed = std::find_if(finding.evidence.begin(), finding.evidence.end(),
                                    [](const Evidence& e) { return e.event || e.time; });
    return timed == finding.evidence.end() ? explained.explanation.event : time_point_of(session, explained, *timed);
}

}  // namespace

std::vector<FindingFlag> finding_flags(const Session& session) {
    std::vector<FindingFlag> flags;
    const auto explained = session.has_device() ? session.explanation_source().explained() : nullptr;
    if (!explained) {
        return flags;
    }
    const auto& findings = explained->explanation.findings;
    int number = 0;
    for (size_t i = 0; i < findings.size(); ++i) {
        if (findings[i].severity != Severity::background) {
            flags.push_back(
                {static_cast<int>(i), ++number, findings[i].severity, begin_of(session, *explained, findings[i])});
        }
    }
    return flags;
}

std::vector<TimePoint> selected_time_points(const Session& session) {
    std::vector<TimePoint> time_points;
    const auto explained = session.has_device() ? session.explanation_source().explained() : nullptr;
    const int selected = session.explanation_source().selected();
    if (explained && selected >= 0) {
        for (const Evidence& evidence : explained->explanation.findings[static_cast<size_t>(selected)].evidence) {
            if (evidence.event || evidence.time) {
                time_points.push_back(time_point_of(session, *explained, evidence));
            }
        }
    }
    return time_points;
}

QString flag_tip(const Session& session, const FindingFlag& flag) {
    const auto explained = session.explanation_source().explained();
    const Finding& finding = explained->explanation.findings[static_cast<size_t>(flag.finding)];
    const Words words = explained->words();
    return QStringLiteral("<b>%1. %2</b><br>%3 · %4")
        .arg(QString::number(flag.number), rich_text(to_qstring(finding.title)),
             to_qstring(severity_title(words, finding.severity)).toHtmlEscaped(),
             to_qstring(size_phrase(finding, words)).toHtmlEscaped());
}

}  // namespace tidemark::gui
