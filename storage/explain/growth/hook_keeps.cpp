// #9: a module keeps what passed through it, as a forward hook that stores activations does.
#include "storage/base/units.h"
#include "storage/explain/growth/pile_reader.h"
#include "storage/explain/holder_words.h"
#include "storage/explain/telling.h"

namespace tidemark {
namespace {

/// "body.3" of "Classifier.body.3"
std::string_view last_name(std::string_view path) { return path.substr(path.find_last_of('.') + 1); }

/// "activations of ReLU" is the attribute `activations` of a ReLU.
std::string_view attribute_name(std::string_view text) { return text.substr(0, text.find(" of ")); }

/// The attribute belongs to the module in which the tensor was made.
bool is_kept_by_its_module(const Case& of, const Pile& pile) {
    const std::vector<HolderLink>& links = pile.holder->links;
    const size_t end = container_end(links);
    if (end < 3 || links[end - 1].kind != "attribute") {
        return false;
    }
    const std::string& module = of.trace().origins[of.device().allocations.origin[pile.example.index]].module;
    return !module.empty() && attribute_name(of.graph()->text(links[end - 2].name)) == last_name(module);
}

}  // namespace

std::optional<Finding> read_hook_keeps(const Case& of, const Pile& pile, const Words& words) {
    const bool is_hooks = pile.holder && pile.holder->links.front().kind == "hook";
    if (!pile.holder || pile.through_graph() || !(is_hooks || is_kept_by_its_module(of, pile))) {
        return std::nullopt;
    }
    Finding finding = about_pile(of, pile, words);
    finding.kind = FindingKind::hook_keeps;
    finding.confidence = is_hooks ? Confidence::certain : Confidence::likely;
    const auto tensors = with("tensors", words.counted(pile.count, "{n} activation", "{n} activations"));
    const std::string expression = holder_expression(of.graph()->tables(), *pile.holder);
    const std::string& module = of.trace().origins[of.device().allocations.origin[pile.example.index]].module;
    finding.title = words("{tensors} of module `{module}` have piled up in {holder}", tensors, with("module", module),
                          with("holder", finding.holder));
    finding.text = {words(
        "Each pass through module `{module}` stores its output in an attribute of the same module: that is what a "
        "forward hook does that remembers activations. Nothing ever empties it: {bytes} more each {round}, {total} by "
        "now. Whether gradients are on makes no difference.",
        with("module", module), with("bytes", format_bytes(pile.per_round)), with("round", round_words(of, words)),
        with("total", format_bytes(pile.bytes)))};
    finding.fixes = {{words("Remove the hook when it has done its work."),
                      "handle = module.register_forward_hook(hook)\n...\nhandle.remove()", pile.bytes, pile.per_round},
                     {words("Or empty what it fills, once each {round}.", with("round", round_words(of, words))),
                      expression.substr(expression.find_last_of('.') + 1) + ".clear()", pile.bytes, pile.per_round}};
    return finding;
}

}  // namespace tidemark
