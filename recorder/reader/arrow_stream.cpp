// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/reader/arrow_stream.h"

#include <array>
#include <cerrno>
#include <new>

#include "recorder/reader/arrow_schema.h"

namespace tidemark::reader {
namespace {

/// A receiver may have taken a part out and marked it as released.
void release_part(ArrowArray& part) {
    if (part.release != nullptr) {
        part.release(&part);
    }
}

/// What an array owns.
struct ArrayData {
    explicit ArrayData(std::shared_ptr<const Rows> owner) : rows(std::move(owner)) {}
    ArrayData(const ArrayData&) = delete;
    ArrayData& operator=(const ArrayData&) = delete;
    ~ArrayData() {
        for (ArrowArray& child : children) {
            release_part(child);
        }
        release_part(dictionary);
    }

    std::shared_ptr<const Rows> rows;
    std::array<const void*, 3> buffers{};
    std::vector<ArrowArray> children;
    std::vector<ArrowArray*> child_pointers;
    ArrowArray dictionary{};
};

void release(ArrowArray* array) {
    delete static_cast<ArrayData*>(array->private_data);
    array->release = nullptr;
}

void fill(ArrowArray& out, int64_t length, int64_t buffers, std::unique_ptr<ArrayData> data) {
    out = {};
    out.length = length;
    out.n_buffers = buffers;
    out.n_children = static_cast<int64_t>(data->children.size());
    out.buffers = data->buffers.data();
    out.children = data->child_pointers.data();
    out.dictionary = data->dictionary.release != nullptr ? &data->dictionary : nullptr;
    out.release = release;
    out.private_data = data.release();
}

void fill_texts(ArrowArray& out, const TextList& texts, const void* present, std::shared_ptr<const Rows> rows) {
    auto data = std::make_unique<ArrayData>(std::move(rows));
    data->buffers = {present, texts.offsets(), texts.chars()};
    fill(out, static_cast<int64_t>(texts.size()), 3, std::move(data));
}

void fill_column(ArrowArray& out, const Column& column, const std::shared_ptr<const Rows>& rows) {
    if (column.type() == ColumnType::text) {
        fill_texts(out, column.texts(), column.present_bits(), rows);
    } else {
        auto data = std::make_unique<ArrayData>(rows);
        data->buffers = {column.present_bits(), column.values()};
        if (column.dictionary() != nullptr) {
            fill_texts(data->dictionary, column.dictionary()->texts(), nullptr, rows);
        }
        fill(out, column.size(), 2, std::move(data));
    }
    out.null_count = column.missing();
}

void fill_batch(ArrowArray& out, const TableBatch& batch, const std::shared_ptr<const Rows>& rows) {
    auto data = std::make_unique<ArrayData>(rows);
    data->children.resize(batch.columns.size());
    for (size_t i = 0; i < batch.columns.size(); ++i) {
        fill_column(data->children[i], batch.columns[i], rows);
        data->child_pointers.push_back(&data->children[i]);
    }
    fill(out, batch.rows(), 1, std::move(data));
}

/// What a stream owns.
struct StreamData {
    std::shared_ptr<const Rows> rows;
    size_t next = 0;  ///< batch
};

StreamData& data_of(ArrowArrayStream* stream) { return *static_cast<StreamData*>(stream->private_data); }

int get_schema(ArrowArrayStream* stream, ArrowSchema* out) {
    try {
        export_schema(data_of(stream).rows->table, *out);
        return 0;
    } catch (const std::bad_alloc&) {
        return ENOMEM;
    }
}

int get_next(ArrowArrayStream* stream, ArrowArray* out) {
    StreamData& data = data_of(stream);
    *out = {};  // released: the end of the stream
    try {
        if (data.next < data.rows->batches.size()) {
            fill_batch(*out, data.rows->batches[data.next], data.rows);
            ++data.next;
        }
        return 0;
    } catch (const std::bad_alloc&) {
        return ENOMEM;
    }
}

const char* get_last_error(ArrowArrayStream*) { return nullptr; }

void release_stream(ArrowArrayStream* stream) {
    delete &data_of(stream);
    stream->release = nullptr;
}

}  // namespace

void export_stream(std::shared_ptr<const Rows> rows, ArrowArrayStream& out) {
    out = {get_schema, get_next, get_last_error, release_stream, new StreamData{std::move(rows)}};
}

}  // namespace tidemark::reader
