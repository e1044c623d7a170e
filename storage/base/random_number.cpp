// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/base/random_number.h"

#include <sys/random.h>
#include <unistd.h>

namespace tidemark {

// Not std::random_device: libstdc++'s needs a newer C library than portable programs may.
uint64_t random_number() {
    uint64_t number = 0;
    return getrandom(&number, sizeof number, 0) == sizeof number ? number : static_cast<uint64_t>(::getpid());
}

}  // namespace tidemark
