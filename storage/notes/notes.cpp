// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/notes/notes.h"

#include <fcntl.h>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>
#include <tuple>

#include "storage/base/descriptor.h"
#include "storage/base/file_lock.h"
#include "storage/base/part_file.h"
#include "storage/base/random_number.h"
#include "storage/base/regular_file.h"
#include "storage/format/hash.h"

namespace tidemark {

namespace {

using nlohmann::json;

constexpr const char* file_ending = ".notes.json";
constexpr const char* format_name = "Tidemark notes";
constexpr int newest_version = 1;
constexpr int64_t most_file_bytes = 16 << 20;
constexpr auto pause_between_attempts = std::chrono::milliseconds(20);
constexpr int most_attempts = 50;

std::string new_id() { return fmt::format("{:016x}", random_number()); }

std::string now() {
    const auto time = std::chrono::system_clock::now();
    const auto milliseconds =
        std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count() % 1000;
    return fmt::format("{:%FT%T}.{:03}Z", fmt::gmtime(std::chrono::system_clock::to_time_t(time)), milliseconds);
}

nlohmann::ordered_json to_json(const Note& note) {
    nlohmann::ordered_json object{{"id", note.id}, {"device", note.device}};
    if (note.is_bookmark()) {
        object["event"] = note.event;
        object["time_ns"] = note.time;
    } else {
        object["finding"] = note.finding;
    }
    object["title"] = note.title;
    object["text"] = note.text;
    object["changed"] = note.changed;
    return object;
}

/// Throws json::exception if a member has another type.
Note from_json(const json& object) {
    Note note;
    note.id = object.at("id").get<std::string>();
    note.device = object.value("device", 0);
    note.event = object.value("event", EventNumber{0});
    note.time = object.value("time_ns", int64_t{0});
    note.finding = object.value("finding", std::string());
    note.title = object.value("title", std::string());
    note.text = object.value("text", std::string());
    note.changed = object.value("changed", std::string());
    return note;
}

void sort_notes(std::vector<Note>& notes) {
    const auto key = [](const Note& note) {
        return std::tuple(!note.is_bookmark(), note.device, note.time, note.event, note.finding, note.id);
    };
    std::sort(notes.begin(), notes.end(), [&](const Note& a, const Note& b) { return key(a) < key(b); });
}

std::vector<Note>::iterator find_note(std::vector<Note>& notes, const std::string& id) {
    return std::find_if(notes.begin(), notes.end(), [&](const Note& note) { return note.id == id; });
}

std::string document_of(const std::vector<Note>& notes, const std::set<std::string>& removed,
                        const std::string& fingerprint, const std::string& trace_name) {
    auto list = nlohmann::ordered_json::array();
    for (const Note& note : notes) {
        list.push_back(to_json(note));
    }
    nlohmann::ordered_json document{{"format", format_name},
                                    {"version", newest_version},
                                    {"trace", fingerprint},
                                    {"trace_name", trace_name},
                                    {"notes", std::move(list)}};
    if (!removed.empty()) {
        document["removed"] = removed;
    }
    return document.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

/// Of a note that is in both folders, the newer one.
void merge(std::vector<Note>& notes, std::vector<Note> others) {
    for (Note& other : others) {
        const auto known = find_note(notes, other.id);
        if (known == notes.end()) {
            notes.push_back(std::move(other));
        } else if (known->changed < other.changed) {
            *known = std::move(other);
        }
    }
}

/// The content of a file. Only the file that is not beside the trace has `removed`: notes of the one that is.
struct Content {
    std::vector<Note> notes;
    std::set<std::string> removed;
};

Error not_notes(const std::string& path) {
    return input_error("{path} is no file of notes, or it is damaged. Move it away to write new notes.",
                       with("path", path));
}

Result<Content> parse(const std::string& path, const std::string& bytes, const std::string& fingerprint) {
    const json document = json::parse(bytes, nullptr, false);
    try {
        if (document.at("format").get<std::string>() != format_name) {
            return not_notes(path);
        }
        if (document.at("version").get<int>() > newest_version) {
            return input_error("{path} was written by a newer version of Tidemark.", with("path", path));
        }
        if (document.at("trace").get<std::string>() != fingerprint) {
            return input_error("{path} has the notes of another trace. Move it away to write notes about this one.",
                               with("path", path));
        }
        Content content;
        for (const json& object : document.at("notes")) {
            content.notes.push_back(from_json(object));
        }
        content.removed = document.value("removed", std::set<std::string>());
        return content;
    } catch (const json::exception&) {
        return not_notes(path);
    }
}

Result<Content> read_content(const std::string& path, const std::string& fingerprint) {
    std::error_code error;
    if (path.empty() || !std::filesystem::exists(path, error)) {
        return Content();
    }
    const auto bytes = read_regular_file(path, most_file_bytes);
    return bytes ? parse(path, *bytes, fingerprint) : Result<Content>(bytes.error());
}

/// Excludes other windows from changing the notes in this folder: it locks the folder, because a file of notes is
/// replaced with every change. No lock where the file system has none. Error (environment): another window holds it.
Result<Descriptor> lock_folder(const std::string& folder) {
    Descriptor descriptor(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    for (int attempt = 0; descriptor && try_lock(descriptor.get()) == LockAttempt::held; ++attempt) {
        if (attempt == most_attempts) {
            return not_locked(folder, LockAttempt::held, 0);
        }
        std::this_thread::sleep_for(pause_between_attempts);
    }
    return descriptor;
}

}  // namespace

std::string trace_fingerprint(const Trace& trace) {
    Hash hash;
    const auto add = [&](const auto& column) { hash.add(column.data(), column.size() * sizeof(column[0])); };
    for (const DeviceHistory& device : trace.devices) {
        hash.add(&device.device, sizeof(device.device));
        add(device.event_time);
        add(device.allocations.alloc_event);
        add(device.allocations.address);
        add(device.allocations.block_size);
    }
    std::string text;
    for (const unsigned char byte : hash.digest()) {
        text += fmt::format("{:02x}", byte);
    }
    return text;
}

bool may_have_notes(const std::string& trace_path, const std::string& folder) {
    std::error_code error;
    return std::filesystem::exists(std::filesystem::symlink_status(trace_path + file_ending, error)) ||
           std::filesystem::directory_iterator(folder, error) != std::filesystem::directory_iterator();
}

NoteFile::NoteFile(const std::string& trace_path, std::string fingerprint, const std::string& folder)
    : beside_(trace_path + file_ending),
      elsewhere_(folder.empty() ? std::string() : folder + "/" + fingerprint + file_ending),
      fingerprint_(std::move(fingerprint)),
      trace_name_(std::filesystem::path(trace_path).filename().string()) {}

Result<std::vector<Note>> NoteFile::read() const {
    auto content = read_content(beside_, fingerprint_);
    if (!content) {
        return content.error();
    }
    auto others = read_content(elsewhere_, fingerprint_);
    if (!others) {
        return others.error();
    }
    std::vector<Note>& notes = content->notes;
    std::erase_if(notes, [&](const Note& note) { return others->removed.contains(note.id); });
    merge(notes, std::move(others->notes));
    sort_notes(notes);
    return std::move(notes);
}

Status NoteFile::write(const std::vector<Note>& notes) const {
    std::error_code error;
    Status written = write_file(beside_, document_of(notes, {}, fingerprint_, trace_name_));
    if (written || elsewhere_.empty()) {
        std::filesystem::remove(elsewhere_, error);  // all of it is beside the trace now
        return written;
    }
    const auto left_behind = read_content(beside_, fingerprint_);
    std::set<std::string> removed;
    for (const Note& note : left_behind ? left_behind->notes : std::vector<Note>()) {
        removed.insert(note.id);
    }
    for (const Note& note : notes) {
        removed.erase(note.id);
    }
    std::filesystem::create_directories(std::filesystem::path(elsewhere_).parent_path(), error);
    return write_file(elsewhere_, document_of(notes, removed, fingerprint_, trace_name_));
}

template <class Change>
Result<std::vector<Note>> NoteFile::change(Change&& apply) const {
    const auto folder = std::filesystem::path(beside_).parent_path().string();
    const auto lock = lock_folder(folder.empty() ? "." : folder);
    if (!lock) {
        return lock.error();
    }
    auto notes = read();
    if (notes) {
        apply(*notes);
        sort_notes(*notes);
        TIDEMARK_TRY(write(*notes));
    }
    return notes;
}

Result<std::vector<Note>> NoteFile::put(Note note, const Note* before) const {
    note.changed = now();
    return change([&](std::vector<Note>& notes) {
        const auto known = note.id.empty() ? notes.end() : find_note(notes, note.id);
        if (known != notes.end() && (before == nullptr || *known == *before)) {
            *known = note;
            return;
        }
        if (note.id.empty() || known != notes.end()) {
            note.id = new_id();
        }
        notes.push_back(note);
    });
}

Result<std::vector<Note>> NoteFile::remove(const Note& before) const {
    return change([&](std::vector<Note>& notes) { std::erase(notes, before); });
}

Status NoteFile::write_all(const std::vector<Note>& notes) const {
    if (const auto existing = read_content(beside_, fingerprint_); !existing) {
        return existing.error();  // another trace's notes
    }
    return write_file(beside_, document_of(notes, {}, fingerprint_, trace_name_));
}

std::string notes_folder() {
    const char* data = std::getenv("XDG_DATA_HOME");
    const char* home = std::getenv("HOME");
    if (data != nullptr && *data == '/') {
        return std::string(data) + "/tidemark/notes";
    }
    return home != nullptr && *home != '\0' ? std::string(home) + "/.local/share/tidemark/notes" : std::string();
}

}  // namespace tidemark
