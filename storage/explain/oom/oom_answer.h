// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The answer to an out-of-memory error: why this request failed, and the fixes with the bytes that they would have
// saved.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "storage/explain/finding.h"
#include "storage/explain/oom/oom_case.h"
#include "storage/text/words.h"

namespace tidemark {

/// What a fix changes.
enum class OomLever : uint8_t {
    program,    ///< a mistake of the program
    demand,     ///< what the program needs, at a price: a smaller batch, recomputation, other settings
    processes,  ///< other processes
    limit,      ///< the process's own limit
};

struct OomFix {
    Fix fix;
    bool fits = false;  ///< the request would have been served
    OomLever lever = OomLever::program;
};

struct OomAnswer {
    std::string referrer;           ///< Finding::referrer, if a cause names one
    std::vector<std::string> text;  ///< causes
    std::vector<OomFix> fixes;
    std::vector<Evidence> evidence;
    FindingMemory memory;  ///< Finding::memory: of the leak that comes first, if there is one
};

/// Adds a fix that frees `bytes` at the error, and says whether the request would have fit.
void add_fix(OomAnswer& answer, const OomCase& oom, const Words& words, std::string text, std::string code,
             int64_t bytes);
/// Adds a fix whose bytes are unknown.
void add_fix(OomAnswer& answer, std::string text, std::string code);

/// Returns the fixes: those with which the request would have fit first, each part by bytes. Other processes come after
/// a mistake of the program without which the request would have fit, and the limit comes last. Of fixes with the same
/// code, only the first is returned.
std::vector<Fix> ranked(const std::vector<OomFix>& fixes);

/// Each adds what it can prove from the recording, and nothing otherwise.
using OomAdvice = void (*)(const OomCase& oom, const Words& words, OomAnswer& answer, Progress& progress);
namespace oom_advice {
void compare_inputs(const OomCase& oom, const Words& words, OomAnswer& answer, Progress& progress);
void gaps_beside_tensors(const OomCase& oom, const Words& words, OomAnswer& answer, Progress& progress);
void growing_request(const OomCase& oom, const Words& words, OomAnswer& answer, Progress& progress);
void handled_exception(const OomCase& oom, const Words& words, OomAnswer& answer, Progress& progress);
void last_iteration(const OomCase& oom, const Words& words, OomAnswer& answer, Progress& progress);
void largest_referrer(const OomCase& oom, const Words& words, OomAnswer& answer, Progress& progress);
void other_processes(const OomCase& oom, const Words& words, OomAnswer& answer, Progress& progress);
void optimizer_state(const OomCase& oom, const Words& words, OomAnswer& answer, Progress& progress);
void uneven_devices(const OomCase& oom, const Words& words, OomAnswer& answer, Progress& progress);
void unused_graph(const OomCase& oom, const Words& words, OomAnswer& answer, Progress& progress);
void attention_scores(const OomCase& oom, const Words& words, OomAnswer& answer, Progress& progress);
void joined_tensors(const OomCase& oom, const Words& words, OomAnswer& answer, Progress& progress);
void batched_transform(const OomCase& oom, const Words& words, OomAnswer& answer, Progress& progress);
void second_copy(const OomCase& oom, const Words& words, OomAnswer& answer, Progress& progress);
void upcast_copy(const OomCase& oom, const Words& words, OomAnswer& answer, Progress& progress);
void library_api(const OomCase& oom, const Words& words, OomAnswer& answer, Progress& progress);
void activations(const OomCase& oom, const Words& words, OomAnswer& answer, Progress& progress);
void refused_workspaces(const OomCase& oom, const Words& words, OomAnswer& answer, Progress& progress);
void allocator_settings(const OomCase& oom, const Words& words, OomAnswer& answer, Progress& progress);
/// Runs after the advice that is more special.
void large_results(const OomCase& oom, const Words& words, OomAnswer& answer, Progress& progress);
void process_limit(const OomCase& oom, const Words& words, OomAnswer& answer, Progress& progress);
}  // namespace oom_advice

/// Adds the answer of all advice.
void answer_oom(OomAnswer& answer, const OomCase& oom, const Words& words, Progress& progress);

}  // namespace tidemark
