// S10, #7: graphs that no backward ever ran, kept by outputs somebody holds: no_grad is missing.
#include "storage/base/units.h"
#include "storage/explain/growth/pile_reader.h"
#include "storage/explain/telling.h"

namespace tidemark {

std::optional<Finding> read_evaluation_builds_graph(const Case& of, const Pile& pile, const Words& words) {
    if (!pile.through_graph() || pile.hold.keeper_state != NodeState::waiting) {
        return std::nullopt;
    }
    Finding finding = about_pile(of, pile, words);
    finding.kind = FindingKind::evaluation_builds_graph;
    finding.title = words("{graphs} were built that no backward ever runs",
                          with("graphs", words.counted(pile.roots, "{n} graph", "{n} graphs")));
    return finding;
}

}  // namespace tidemark
