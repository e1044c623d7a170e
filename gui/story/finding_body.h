// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The content of an open finding card: what happened, the evidence, the recommended fixes, the confidence.
#pragma once

#include <QWidget>

#include "gui/model/explained.h"

class QVBoxLayout;

namespace tidemark::gui {

class FindingBody : public QWidget {
    Q_OBJECT
public:
    FindingBody(const std::shared_ptr<const Explained>& explained, const Finding& finding, QWidget* parent = nullptr);

signals:
    void evidence_requested(int step);
    void path_step_requested(int step);
    void walk_requested();
    void memory_requested();  ///< the list of the finding's allocations

private:
    void add_source(const Finding& finding);
    void add_story(const Finding& finding);
    void add_memory(const Finding& finding);
    void add_path(const Finding& finding);
    void add_evidence(const Finding& finding);
    void add_fixes(const Explained& explained, const Finding& finding);
    void add_fix(const Explained& explained, const Finding& finding, const Fix& fix);
    void add_confidence(const Finding& finding, const Words& words);
    void add_heading(const QString& text);
    void add_text(const QString& name, const QString& html);

    QVBoxLayout* column_;
};

/// Returns the text of "Copy" at a fix: the instruction as a comment, and the code.
QString fix_text(const Fix& fix);

}  // namespace tidemark::gui
