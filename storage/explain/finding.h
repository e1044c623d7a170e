// What a diagnosis says about a trace: in words, with bytes, with evidence one click away, and with what would mend it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "storage/breakdown/breakdown.h"
#include "storage/explain/finding_kinds.h"
#include "storage/format/graph_tables.h"

namespace tidemark {

/// What a person should make of it; most serious first, which is also the order in which findings are told.
enum class Severity : uint8_t {
    leak,        ///< memory goes up from round to round and does not come back
    failure,     ///< the run could not have the memory it asked for
    waste,       ///< does not grow, but more memory is taken than the work needs
    pattern,     ///< what the program's own doing looks like in memory: expected, explained
    background,  ///< every program has it
};
/// "leak", "failure", ...
std::string_view severity_word(Severity severity);

/// How sure: `certain` was observed, `likely` is inferred from what was observed, `possible` is one of several
/// explanations.
enum class Confidence : uint8_t { certain, likely, possible };
std::string_view confidence_word(Confidence confidence);

/// Something to look at. What is set of the optional parts is what the window goes to.
struct Evidence {
    std::string text;                  ///< one sentence or phrase
    std::optional<EventNumber> event;  ///< a state of Finding::device
    std::optional<int64_t> time;       ///< ns since trace start; with `until` a stretch
    std::optional<int64_t> until;
    AllocationRef allocation;
    NodeIndex node = no_node;
    StackId stack = 0;
    std::optional<ComponentKind> component;
};

struct Fix {
    std::string text;                      ///< what to do: "Drop retain_graph=True."
    std::string code;                      ///< lines to copy; may be empty
    std::optional<int64_t> bytes;          ///< that it gives back, at the moment the finding is about
    std::optional<int64_t> per_iteration;  ///< that it gives back each round
};

/// Complete sentences, in the language that was asked for; bytes are block bytes unless a text says otherwise.
struct Finding {
    FindingKind kind = FindingKind::steady;
    Severity severity = Severity::pattern;
    Confidence confidence = Confidence::certain;
    std::string basis;  ///< what the confidence rests on
    int device = 0;     ///< PyTorch's index

    std::string title;              ///< one line: "60 graphs are kept alive by list `results`"
    std::vector<std::string> text;  ///< what happened, a sentence or short paragraph each

    int64_t bytes = 0;                     ///< now: at the moment the explanation is about
    std::optional<int64_t> per_iteration;  ///< bytes added by each round; nothing: does not grow
    int64_t count = 0;                     ///< allocations, graphs, calls, ...; 0: says nothing
    std::optional<int64_t> since;          ///< ns since trace start
    std::optional<int64_t> since_iteration;
    std::optional<ComponentKind> component;  ///< of the ledger, in which it lies
    StackId stack = 0;                       ///< the user's line that made it
    std::string line;                        ///< the same in words: "train.py:31 main"
    std::string referrer;                    ///< "list `results` (variable of <module>, train.py:29), elements 0 to 59"

    std::vector<Evidence> evidence;     ///< in the order a person should look
    std::vector<Fix> fixes;             ///< either of them helps, best first
    std::vector<std::string> unknowns;  ///< what could not be known, and what recording would tell it
};

}  // namespace tidemark
