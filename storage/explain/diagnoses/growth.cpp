// Memory that goes up from round to round: each pile is told by the first reader that knows its cause.
#include "storage/explain/diagnoses/all.h"
#include "storage/explain/growth/pile_reader.h"

namespace tidemark {
namespace {

/// Told by the diagnosis of private pools.
bool lies_in_private_pool(const Case& of, const Pile& pile) {
    const uint32_t segment = of.device().allocations.segment[pile.example.index];
    if (segment == no_segment) {
        return false;
    }
    const Pool& pool = of.trace().pools[of.device().segments[segment].pool];
    return pool.owner[0] != 0 || pool.owner[1] != 0;
}

}  // namespace

void diagnose_growth(const Case& of, const Words& words, Findings& findings, Progress&) {
    for (const Pile& pile : of.piles()) {
        if (lies_in_private_pool(of, pile)) {
            continue;
        }
        for (const PileReader read : all_pile_readers()) {
            if (std::optional<Finding> finding = read(of, pile, words)) {
                findings.push_back(std::move(*finding));
                break;
            }
        }
    }
}

}  // namespace tidemark
