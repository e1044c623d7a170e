// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// A file of the start page as a button: its name, one line about it, and its facts.
#pragma once

#include <QAbstractButton>
#include <optional>

#include "storage/explain/finding.h"

namespace tidemark::gui {

struct FileCardText {
    QString title;
    QString place;  ///< the folder, beside the title; may be empty
    QString line;   ///< one sentence; may be empty
    QString facts;  ///< may be empty
    std::optional<Severity> severity = {};
    bool missing = false;  ///< the card is disabled
};

/// Elides every line; the tooltip and the accessible description have them in full.
class FileCard : public QAbstractButton {
    Q_OBJECT
public:
    explicit FileCard(FileCardText text, QWidget* parent = nullptr);
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    FileCardText text_;
};

}  // namespace tidemark::gui
