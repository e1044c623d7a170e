// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/reader/reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <string>

#include "recorder/reader/run.h"
#include "storage/base/utf8.h"
#include "storage/text/words.h"

#define TIDEMARK_EXPORT __attribute__((visibility("default")))

// Python's, where it is loaded; nullptr otherwise.
extern "C" void* PyCapsule_GetPointer(void* capsule, const char* name) __attribute__((weak));

struct tidemark_run {
    std::shared_ptr<const tidemark::reader::Run> run;
};
struct tidemark_table {
    std::shared_ptr<const tidemark::reader::Rows> rows;
};
struct tidemark_text {
    std::string text;
};

namespace {

using namespace tidemark;
using namespace tidemark::reader;

char stream_name[] = "arrow_array_stream";

/// Where a function writes the sentence of its error.
struct ErrorText {
    char* text;
    size_t capacity;

    void set(const std::string& sentence) const {
        if (capacity > 0) {
            const std::string_view cut = cut_text(sentence, capacity - 1);
            std::memcpy(text, cut.data(), cut.size());
            text[cut.size()] = '\0';
        }
    }
};

/// Calls a function that returns a Result. Returns its value as an object of the interface, or nullptr with an error.
template <class Object, class Make>
Object* made(const ErrorText& error, Make&& make) {
    try {
        auto result = make();
        if (result) {
            return new Object{*std::move(result)};
        }
        error.set(Words(language_of_locale()).translate(result.error().sentence));
    } catch (const std::bad_alloc&) {
        const Words words(language_of_locale());
        error.set(words("There is not enough memory for this. End other programs, or use a machine with more memory."));
    } catch (const std::exception& failure) {
        error.set(failure.what());
    }
    return nullptr;
}

Selection selection_of(int32_t device, const char* at) {
    return {device < 0 ? std::nullopt : std::optional<int>(device),
            at == nullptr ? std::nullopt : std::optional<std::string>(at)};
}

std::string or_stack(const char* by) { return by == nullptr ? "stack" : by; }

}  // namespace

extern "C" {

TIDEMARK_EXPORT tidemark_run* tidemark_run_open(const char* path, char* error, size_t capacity) {
    return made<tidemark_run>({error, capacity}, [&] { return Run::open(path); });
}

TIDEMARK_EXPORT void tidemark_run_close(tidemark_run* run) { delete run; }

TIDEMARK_EXPORT tidemark_table* tidemark_run_table(tidemark_run* run, const char* name, int32_t device, const char* at,
                                                   const char* by, char* error, size_t capacity) {
    return made<tidemark_table>({error, capacity},
                                [&] { return run->run->table(name, selection_of(device, at), or_stack(by)); });
}

TIDEMARK_EXPORT tidemark_table* tidemark_run_changes(tidemark_run* a, tidemark_run* b, int32_t device, const char* at_a,
                                                     const char* at_b, const char* by, char* error, size_t capacity) {
    return made<tidemark_table>({error, capacity}, [&] {
        return Run::changes(*a->run, selection_of(device, at_a), *b->run, selection_of(device, at_b), or_stack(by));
    });
}

TIDEMARK_EXPORT tidemark_text* tidemark_run_points(tidemark_run* run, int32_t device, const char* at, char* error,
                                                   size_t capacity) {
    return made<tidemark_text>({error, capacity}, [&] { return run->run->points(selection_of(device, at)); });
}

TIDEMARK_EXPORT tidemark_text* tidemark_run_explanation(tidemark_run* run, int32_t device, const char* format,
                                                        char* error, size_t capacity) {
    return made<tidemark_text>({error, capacity},
                               [&] { return run->run->explanation(format, selection_of(device, nullptr).device); });
}

TIDEMARK_EXPORT int64_t tidemark_table_rows(const tidemark_table* table) {
    int64_t rows = 0;
    for (const TableBatch& batch : table->rows->batches) {
        rows += batch.rows();
    }
    return rows;
}

TIDEMARK_EXPORT tidemark_text* tidemark_table_columns(const tidemark_table* table) {
    return made<tidemark_text>({nullptr, 0}, [&] {
        std::string text;
        for (const ColumnInfo& column : table->rows->table.columns) {
            text += fmt::format("{} {}\n", column.name, column_type_word(column.type));
        }
        return Result<std::string>(std::move(text));
    });
}

TIDEMARK_EXPORT void* tidemark_table_stream(const tidemark_table* table) {
    try {
        auto stream = std::make_unique<ArrowArrayStream>();
        export_stream(table->rows, *stream);
        return stream.release();
    } catch (const std::bad_alloc&) {
        return nullptr;
    }
}

TIDEMARK_EXPORT void tidemark_table_close(tidemark_table* table) { delete table; }

TIDEMARK_EXPORT void* tidemark_stream_name(void) { return stream_name; }

TIDEMARK_EXPORT void tidemark_stream_end(void* capsule) {
    auto* stream = PyCapsule_GetPointer == nullptr
                       ? nullptr
                       : static_cast<ArrowArrayStream*>(PyCapsule_GetPointer(capsule, stream_name));
    if (stream != nullptr && stream->release != nullptr) {  // nobody took it
        stream->release(stream);
    }
    delete stream;
}

TIDEMARK_EXPORT const char* tidemark_text_chars(const tidemark_text* text) { return text->text.c_str(); }

TIDEMARK_EXPORT void tidemark_text_close(tidemark_text* text) { delete text; }

}  // extern "C"
