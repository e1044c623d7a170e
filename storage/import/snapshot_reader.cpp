// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/import/snapshot_reader.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "storage/base/regular_file.h"
#include "storage/import/pickle_machine.h"
#include "storage/import/pickle_opcodes.h"
#include "storage/import/snapshot_builder.h"

namespace tidemark {
namespace {

constexpr size_t head_size = 512;
constexpr size_t largest_page = 65'536;  ///< of SQLite
constexpr auto expected_files =
    Literal("Tidemark needs a memory snapshot; write one with torch.cuda.memory._dump_snapshot(\"file.pickle\").");

struct Signature {
    std::string_view begin;
    Literal type;
};

constexpr std::array signatures{
    Signature{{"PK\3\4", 4}, Literal("a zip archive, perhaps a model saved by torch.save")},
    Signature{{"\x80\x02\x8a\x0a\x6c\xfc\x9c\x46", 8}, Literal("a model saved by torch.save")},
    Signature{"SQLite format 3", Literal("an SQLite database")},
    Signature{"\x7f"
              "ELF",
              Literal("a program")},
    Signature{"\x89PNG", Literal("a picture")},
    Signature{"\x89HDF", Literal("an HDF5 file")},
    Signature{"BZh", Literal("a bzip2 archive; unpack it first")},
    Signature{"7z\xbc\xaf", Literal("a 7-Zip archive; unpack it first")},
    Signature{"%PDF", Literal("a PDF document")},
    Signature{"\x93NUMPY", Literal("a NumPy array")},
};

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

bool is_text(std::string_view head) {
    return std::all_of(head.begin(), head.end(), [](char c) {
        const auto byte = static_cast<uint8_t>(c);
        return (byte >= ' ' && byte != 0x7f) || is_space(c) || byte == 0x1b;
    });
}

/// Removes a line with a dotted Python name from the front of `head`. Returns false if there is none.
bool take_name_line(std::string_view& head) {
    const size_t length = head.find('\n');
    const std::string_view name = head.substr(0, length);
    const auto in_name = [](char c) {
        return c == '_' || c == '.' || (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
    };
    if (length == std::string_view::npos || name.empty() || !std::all_of(name.begin(), name.end(), in_name)) {
        return false;
    }
    head.remove_prefix(length + 1);
    return true;
}

/// Returns whether this is a pickle of protocol 0 or 1. They have no header and start with a container or the import of
/// a name.
bool begins_old_pickle(std::string_view head) {
    if (head.front() == opcode::global || head.front() == opcode::inst) {
        head.remove_prefix(1);
        return take_name_line(head) && take_name_line(head);
    }
    if (head.front() == opcode::empty_list || head.front() == opcode::empty_dict) {
        return head.size() == 1 || head[1] == opcode::binput || head[1] == opcode::stop || head[1] == opcode::mark;
    }
    if (head.front() != opcode::mark || head.size() < 2) {
        return false;
    }
    return head[1] == opcode::list || head[1] == opcode::dict || head[1] == opcode::mark ||
           head[1] == opcode::empty_dict;
}

/// Returns the detected type of a file; nothing if it may be a pickle.
std::optional<Sentence> foreign_type(std::string_view head) {
    for (const Signature& signature : signatures) {
        if (head.starts_with(signature.begin)) {
            return Sentence(signature.type);
        }
    }
    if (static_cast<uint8_t>(head.front()) == opcode::proto || begins_old_pickle(head)) {
        return {};
    }
    const size_t start = head.find_first_not_of(" \t\r\n");
    const char first = start == std::string_view::npos ? ' ' : head[start];
    if (!is_text(head)) {
        return Sentence("binary data of an unknown kind");
    }
    if (first == '{' || first == '[') {
        return Sentence("a JSON file");
    }
    return first == '<' ? Sentence("an HTML or XML page") : Sentence("a text file");
}

/// PyTorch once considered writing snapshots as SQLite; the first page lists the tables.
bool is_sqlite_snapshot(std::string_view first_page) {
    return first_page.starts_with("SQLite format 3") && first_page.find("device_traces") != first_page.npos &&
           first_page.find("segments") != first_page.npos;
}

std::string_view head_of(const ByteSource& source) {
    return {reinterpret_cast<const char*>(source.data()), std::min(source.available(), head_size)};
}

Result<Snapshot> read_checked(ByteSource& source, Progress& progress) {
    TIDEMARK_TRY(source.ensure(largest_page));
    if (source.available() == 0) {
        return input_error("The file unpacks to nothing. {wanted}", with("wanted", Sentence(expected_files)));
    }
    if (is_sqlite_snapshot({reinterpret_cast<const char*>(source.data()), source.available()})) {
        return input_error(
            "This is a PyTorch memory snapshot as an SQLite database, which Tidemark does not read; write a pickle "
            "with "
            "torch.cuda.memory._dump_snapshot(\"file.pickle\").");
    }
    if (const auto type = foreign_type(head_of(source))) {
        return input_error("This looks like {what}. {wanted}", with("what", *type),
                           with("wanted", Sentence(expected_files)));
    }
    TextPool texts;
    SnapshotBuilder builder(texts);
    std::optional<PickleMachine> machine(std::in_place, source, texts, builder, progress, reading_phase);
    const auto root = machine->run();
    if (!root) {
        return root.error();
    }
    const int protocol = machine->protocol();
    machine.reset();  // its memory is needed for the result
    auto snapshot = builder.finish(*root);
    if (snapshot) {
        snapshot->pickle_protocol = protocol;
    }
    return snapshot;
}

}  // namespace

Result<Snapshot> read_snapshot(ByteSource& source, Progress& progress) {
    source.stop_on(&progress.canceled);
    progress.report(reading_phase, 0);
    auto snapshot = read_checked(source, progress);
    source.stop_on(nullptr);
    if (snapshot) {
        progress.report(reading_phase, 1);
    }
    return snapshot;
}

Result<Snapshot> read_snapshot_file(const std::string& path, Progress& progress) {
    const auto named = [&path](Error error) {
        if (error.kind == ErrorKind::input) {
            error.sentence = Sentence("{path}: {sentence}", with("path", path), with("sentence", error.sentence));
        }
        return error;
    };
    if (const auto file = open_regular_file(path); !file) {
        return file.error();  // it names the file
    }
    const auto source = ByteSource::open(path);
    if (!source) {
        return named(source.error());
    }
    auto snapshot = read_snapshot(**source, progress);
    if (!snapshot) {
        return named(snapshot.error());
    }
    return snapshot;
}

}  // namespace tidemark
