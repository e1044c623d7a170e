// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The handler of an exception in the program's lines.
#include "storage/explain/exception_handler.h"

#include <gtest/gtest.h>

#include "storage/explain/exception_fixes.h"
#include "tests/unit/source_builder.h"

namespace tidemark::test {
namespace {

const std::vector<std::string> handled{"def run(self):",
                                       "    for shard in shards:",
                                       "        try:",
                                       "            score(shard)",
                                       "        except KeyError:",
                                       "            pass",
                                       "        except ValueError as err:",
                                       "            failed.append(err)",
                                       "            continue",
                                       "        else:",
                                       "            done()"};

TEST(ExceptionHandler, RemovesTheTracebackAtItsEnd) {
    const Source source(handled, 4);
    const auto handler = handler_around(source.trace, source.stack).value();
    EXPECT_EQ(handler.place.number, 7);
    EXPECT_EQ(handler.name, "err");
    EXPECT_EQ(remove_traceback_diff(source.trace, handler),
              diff_before(9, "            err.__traceback__ = None", "            continue"));
    const Source outside(handled, 11);
    EXPECT_FALSE(handler_around(outside.trace, outside.stack));
}

TEST(ExceptionHandler, KeepsTheTracebackOfWhatIsRaisedAgain) {
    const Source source({"try:", "    f()", "except ValueError as err:", "    kept = err", "    raise"}, 2);
    EXPECT_EQ(remove_traceback_diff(source.trace, handler_around(source.trace, source.stack).value()), "");
}

TEST(ExceptionHandler, IsUnknownIfThereAreSeveral) {
    const Source source(
        {"try:", "    f()", "except ValueError as err:", "    a = err", "except KeyError as err:", "    b = err"}, 2);
    EXPECT_FALSE(handler_around(source.trace, source.stack));
}

TEST(ExceptionFixes, NameTheProgramsVariable) {
    const Source source(handled, 4);
    const StoredException stored{"list `failed`", "failed", PathLinkKind::index};
    const auto fixes =
        fixes_of_stored_exceptions(source.trace, stored, {source.stack, 10, 1}, Words(Language::english));
    EXPECT_EQ(fixes[0].text,
              "Remove the traceback when the exception was handled: train.py:7, `except ValueError as err:`.");
    EXPECT_FALSE(fixes[0].diff.empty());
    EXPECT_EQ(fixes[1].text, "Or store only the text of the message, `str(err)`, in place of `err`.");
    const auto unknown = fixes_of_stored_exceptions(Trace(), stored, {0, 10, 1}, Words(Language::english));
    EXPECT_EQ(unknown[0].code, "failed.append(str(error))");
}

}  // namespace
}  // namespace tidemark::test
