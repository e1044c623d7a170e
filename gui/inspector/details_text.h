// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The translation context of the inspector's reports.
#pragma once

#include <QCoreApplication>

namespace tidemark::gui {

struct Details {
    Q_DECLARE_TR_FUNCTIONS(Details)
};

}  // namespace tidemark::gui
