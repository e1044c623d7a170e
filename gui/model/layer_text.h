// The words for the layers of the ledger: what each is called, what it is, and what one can do about it.
#pragma once

#include <QString>

#include "storage/ledger/ledger.h"

namespace tidemark::gui {

QString layer_name(const Layer& layer);
/// Two or three plain sentences.
QString layer_help(LayerKind kind);

}  // namespace tidemark::gui
