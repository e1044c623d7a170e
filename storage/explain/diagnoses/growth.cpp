// Memory that goes up from round to round: each pile is told by the first reader that knows its cause.
#include "storage/explain/diagnoses/all.h"
#include "storage/explain/growth/pile_reader.h"

namespace tidemark {

void diagnose_growth(const Case& of, const Words& words, Findings& findings, Progress&) {
    for (const Pile& pile : of.piles()) {
        for (const PileReader read : all_pile_readers()) {
            if (std::optional<Finding> finding = read(of, pile, words)) {
                findings.push_back(std::move(*finding));
                break;
            }
        }
    }
}

}  // namespace tidemark
