// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/explain/registries.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "storage/base/sentence.h"

namespace tidemark {
namespace {

struct Registry {
    PathLinkKind kind;
    std::string_view name;
    Literal text;
    std::string_view code;
};

constexpr std::array registries{
    Registry{PathLinkKind::attribute, "_registry of finalize",
             Literal("weakref.finalize() keeps its function and arguments until the object is gone. A method of the "
                     "object, or an argument that refers to it, keeps the object itself. Register a static function "
                     "that does not refer to the object, or call or detach the finalizer when the work is done."),
             "finalizer = weakref.finalize(self, shutil.rmtree, self.path)  # no method of self\n"
             "finalizer()  # or finalizer.detach()"},
    Registry{PathLinkKind::callback, "atexit",
             Literal("atexit keeps a registered function, its arguments and the object whose method it is until the "
                     "program ends. Unregister it when the work is done."),
             "atexit.unregister(function)"}};

}  // namespace

std::optional<Fix> registry_fix(const GraphTables& tables, const Words& words, const ReferrerGroup& paths) {
    const size_t filled_at = paths.varying.value_or(0);
    for (size_t i = 0; i < paths.links.size(); ++i) {
        const PathLink& link = paths.links[i];
        const auto found = std::find_if(registries.begin(), registries.end(), [&](const Registry& registry) {
            return link.kind == registry.kind && tables.texts[link.name] == registry.name;
        });
        if (found != registries.end() && filled_at <= i + 1) {
            return Fix{words.translate(Sentence(found->text)), std::string(found->code), {}, {}};
        }
    }
    return std::nullopt;
}

}  // namespace tidemark
