// The words for the layers of the ledger: what each is called, what it is, and what one can do about it.
#pragma once

#include <QString>

#include "storage/breakdown/breakdown.h"

namespace tidemark::gui {

QString component_name(const Component& component);
/// Two or three plain sentences.
QString component_help(ComponentKind kind);

}  // namespace tidemark::gui
