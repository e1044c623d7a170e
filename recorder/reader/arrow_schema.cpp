// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/reader/arrow_schema.h"

#include <memory>
#include <string>
#include <vector>

namespace tidemark::reader {
namespace {

constexpr int64_t nullable = 2;

/// A receiver may have taken a part out and marked it as released.
void release_part(ArrowSchema& part) {
    if (part.release != nullptr) {
        part.release(&part);
    }
}

/// What a schema owns.
struct SchemaData {
    SchemaData() = default;
    SchemaData(const SchemaData&) = delete;
    SchemaData& operator=(const SchemaData&) = delete;
    ~SchemaData() {
        for (ArrowSchema& child : children) {
            release_part(child);
        }
        release_part(dictionary);
    }

    std::string name;
    std::vector<ArrowSchema> children;
    std::vector<ArrowSchema*> child_pointers;
    ArrowSchema dictionary{};
};

void release(ArrowSchema* schema) {
    delete static_cast<SchemaData*>(schema->private_data);
    schema->release = nullptr;
}

/// `format`: a literal.
void fill(ArrowSchema& out, const char* format, std::string_view name, std::unique_ptr<SchemaData> data) {
    data->name = name;
    out = {};
    out.format = format;
    out.name = data->name.c_str();
    out.flags = nullable;
    out.n_children = static_cast<int64_t>(data->children.size());
    out.children = data->child_pointers.data();
    out.dictionary = data->dictionary.release != nullptr ? &data->dictionary : nullptr;
    out.release = release;
    out.private_data = data.release();
}

const char* format_of(ColumnType type) {
    switch (type) {
        case ColumnType::flag: return "b";
        case ColumnType::int32:
        case ColumnType::repeated_text: return "i";  // of repeated text, numbers in the dictionary
        case ColumnType::int64: return "l";
        case ColumnType::utc_time: return "tsn:UTC";
        case ColumnType::text: break;
    }
    return "U";
}

void fill_column(ArrowSchema& out, const ColumnInfo& column) {
    auto data = std::make_unique<SchemaData>();
    if (column.type == ColumnType::repeated_text) {
        fill(data->dictionary, format_of(ColumnType::text), "", std::make_unique<SchemaData>());
    }
    fill(out, format_of(column.type), column.name, std::move(data));
}

}  // namespace

void export_schema(const TableInfo& table, ArrowSchema& out) {
    auto data = std::make_unique<SchemaData>();
    data->children.resize(table.columns.size());
    for (size_t i = 0; i < table.columns.size(); ++i) {
        fill_column(data->children[i], table.columns[i]);
        data->child_pointers.push_back(&data->children[i]);
    }
    fill(out, "+s", "", std::move(data));
    out.flags = 0;
}

}  // namespace tidemark::reader
