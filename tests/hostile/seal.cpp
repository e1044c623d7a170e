// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "tests/hostile/seal.h"

namespace tidemark::hostile {

bool is_sealed(const Bytes&) { return false; }

void renew_seal(Bytes&) {}

}  // namespace tidemark::hostile
