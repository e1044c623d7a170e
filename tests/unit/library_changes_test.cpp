// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Changes of the program's lines that use a library.
#include "storage/explain/library_changes.h"

#include <gtest/gtest.h>

#include "tests/unit/source_builder.h"

namespace tidemark::test {
namespace {

TEST(LibraryChanges, ResetAMetricAfterItsValueWasRead) {
    const Source source({"def report(self):", "    value = self.auc.compute().item()", "    print(value)"});
    EXPECT_EQ(reset_metric_diff(source.trace, "self.auc"),
              diff_after(2, "    value = self.auc.compute().item()", "    self.auc.reset()"));
    EXPECT_EQ(reset_metric_diff(source.trace, "self.map"), "");
}

TEST(LibraryChanges, NameAMetricByTheLineThatComputesIt) {
    Source source(
        {"def on_validation_epoch_end(self):", "    self.log('auc', self.auc.compute())", "    f().compute()"});
    EXPECT_EQ(computed_metric(source.trace, source.stack_at(2)), "self.auc");
    EXPECT_EQ(computed_metric(source.trace, source.stack_at(3)), "");
}

TEST(LibraryChanges, ResetAMetricBeforeItsLoop) {
    const Source source({"def validate(self):", "    for x, y in batches:", "        self.auc.update(model(x), y)",
                         "    return self.auc.compute().item()"});
    EXPECT_EQ(reset_metric_diff(source.trace, "self.auc"),
              diff_before(2, "    self.auc.reset()", "    for x, y in batches:"));
    const Source one({"for x, y in batches:", "    auc(model(x), y)"});
    EXPECT_EQ(reset_metric_diff(one.trace, "auc"), "") << "the only loop begins once";
}

TEST(LibraryChanges, ResetAMetricBeforeTheInnerLoopOfTheCaller) {
    std::vector<std::string> lines{"class Tagger:",
                                   "    def step(self, x, y):",
                                   "        scores = self.auc(self.model(x), y)",
                                   "def main():",
                                   "    for epoch in range(9):",
                                   "        for x, y in batches:",
                                   "            loss = tagger.step(x, y)"};
    EXPECT_EQ(reset_metric_diff(Source(lines).trace, "self.auc"),
              diff_before(6, "        tagger.auc.reset()", "        for x, y in batches:"));
    lines.push_back("            tagger.step(y, x)");
    EXPECT_EQ(reset_metric_diff(Source(lines).trace, "self.auc"), "");
}

TEST(LibraryChanges, NameTheOnlyObjectOfAClass) {
    EXPECT_EQ(variable_of_class(Source({"self.quality = Collection({\"auc\": AUROC()})"}).trace, "AUROC"),
              "self.quality");
    EXPECT_EQ(variable_of_class(Source({"run(AUROC())"}).trace, "AUROC"), "");
}

TEST(LibraryChanges, ClearAtTheEndOfAMethodOfTheClass) {
    const Source source({"class Model:", "    def end(self):", "        f()",
                         "class Callback:", "    def end(self):", "        print(1,", "              2)"});
    EXPECT_EQ(append_to_method_diff(source.trace, "Callback", "end", "self.kept.clear()"),
              diff_after(7, "              2)", "        self.kept.clear()"));
    EXPECT_EQ(append_to_method_diff(source.trace, "Other", "end", "self.kept.clear()"), "");
    const Source part({"    def end(self):", "        f()"});
    EXPECT_EQ(append_to_method_diff(part.trace, "Model", "end", "self.kept.clear()"),
              diff_after(2, "        f()", "        self.kept.clear()"))
        << "the line with the class was not recorded";
}

TEST(LibraryChanges, ReleaseWhatAnAcceleratorPrepared) {
    const Source source({"def fold(acc):", "    model, optimizer = acc.prepare(model, optimizer)",
                         "    for x in data:", "        break", "    return score"});
    EXPECT_EQ(free_memory_diff(source.trace, "acc"),
              diff_before(5, "    model, optimizer = acc.free_memory(model, optimizer)", "    return score"));
    EXPECT_EQ(free_memory_diff(source.trace, "accelerator"), "");
}

TEST(LibraryChanges, DeleteTheAdapterThatLeavesItsDict) {
    Source source({"def activate(self, key):", "    self.model.load_adapter(path(key), adapter_name=key)",
                   "    self.resident[key] = time.time()", "    old, since = self.resident.popitem(last=False)"},
                  2);
    const auto added = added_adapter(source.trace, source.stack).value();
    EXPECT_EQ(added.name, "key");
    EXPECT_EQ(added.model, "self.model");
    EXPECT_EQ(
        delete_adapter_diff(source.trace, added),
        diff_after(4, "    old, since = self.resident.popitem(last=False)", "    self.model.delete_adapter(old)"));
    const Source other({"model.add_adapter(user, config)"});
    EXPECT_EQ(added_adapter(other.trace, other.stack)->name, "user");
    EXPECT_EQ(delete_adapter_diff(other.trace, *added_adapter(other.trace, other.stack)), "");
    const Source none({"model(x)"});
    EXPECT_FALSE(added_adapter(none.trace, none.stack));
}

}  // namespace
}  // namespace tidemark::test
