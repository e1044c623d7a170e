// #3: what one round made is an input of the next, graph and all: hidden state that was never detached.
#include "storage/base/units.h"
#include "storage/explain/growth/chains.h"
#include "storage/explain/growth/pile_reader.h"
#include "storage/explain/holder_words.h"
#include "storage/explain/telling.h"

namespace tidemark {
namespace {

/// Of the tensor that is carried over, as the variable that was found to hold it is called.
std::string carried_name(const Case& of, const Link& link) {
    const Holder* holder = of.graph()->holders.in_python(link.earlier);
    return holder ? holder_expression(of.graph()->tables(), *holder) : "";
}

}  // namespace

std::optional<Finding> read_state_carried(const Case& of, const Pile& pile, const Words& words) {
    const std::optional<Link> link = link_between_rounds(of, pile);
    if (!link) {
        return std::nullopt;
    }
    const GraphIndex& index = of.graph()->index;
    const auto& nodes = of.graph()->tables().nodes;
    Finding finding = about_pile(of, pile, words);
    finding.kind = FindingKind::state_carried;
    const std::string line = line_of(of.trace(), nodes.stack[link->earlier]);
    const auto round = with("round", round_words(of, words));
    finding.title =
        words("one graph runs through all rounds: what {line} made is carried on with its graph", with("line", line));
    finding.text = {words(
        "The graph of each {round} ends in that of the {round} before: {later} takes what {earlier} made one {round} "
        "earlier, so the newest tensor keeps everything that was ever saved. {bytes} come with each {round}, {total} "
        "by now.",
        round, with("later", index.type(link->later)), with("earlier", index.type(link->earlier)),
        with("bytes", format_bytes(pile.per_round)), with("total", format_bytes(pile.bytes)))};
    if (pile.hold.keeper_state == NodeState::kept) {
        finding.text.push_back(
            words("Backward passes run through all of it again each time, which also makes them slower and "
                  "slower; retain_graph=True is there only to allow that."));
    }
    finding.evidence.push_back(at_node(
        of,
        words("Here one {round} goes over into the one before: {type}", round, with("type", index.type(link->earlier))),
        link->earlier));
    const std::string name = carried_name(of, *link);
    const std::string variable = name.empty() ? "hidden" : name;
    finding.fixes = {{words("Cut the graph between rounds: detach what is carried on."),
                      fmt::format("{0} = {0}.detach()", variable), pile.bytes, pile.per_round}};
    return finding;
}

}  // namespace tidemark
