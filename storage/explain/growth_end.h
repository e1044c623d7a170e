// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Whether a rising site is growth that goes on. Memory that rose in a part of the run, that each phase of the program
// frees at its end, or that replaces other memory, is no leak.
#pragma once

#include <vector>

#include "storage/explain/iterations.h"
#include "storage/explain/surviving_allocations.h"
#include "storage/trace/trace.h"

namespace tidemark {

/// Returns whether the site has grown no more for much longer than between any two of its allocations before. Measured
/// in time: the iterations of a loop may be as rare as the growth. The work after the last iteration counts if it took
/// half of the time of the growth, and a tenth of its events. `now`: the context's time point. Requires allocations.
bool has_stopped(const Site& site, const DeviceHistory& device, const Iterations& iterations, EventNumber now);

/// Returns whether the site's memory was as high before the growth began, had taken as long to rise, and was freed:
/// each phase fills a container and empties it at its end, and the last phase had not ended. `begin`: of the growth.
bool is_phase_that_repeats(const Site& site, const DeviceHistory& device, const Trace& trace, EventNumber begin,
                           EventNumber now);

/// Returns whether the number of the site's allocations has stopped rising while it still allocates and frees: with the
/// last third of those that outlived their iteration, no more exist at once than before. Its bytes rise only because
/// sizes differ, as those of entries of a cache do.
bool keeps_its_number(const Site& site, const DeviceHistory& device, const Trace& trace, const Iterations& iterations);

/// Returns whether the site only takes over from other lines of its function: they freed as many blocks of the same
/// size meanwhile. Such lines replace elements that others added.
bool replaces_others(const Site& site, const std::vector<Site>& all, const Trace& trace);

}  // namespace tidemark
