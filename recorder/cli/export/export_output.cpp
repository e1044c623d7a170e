// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/cli/export/export_output.h"

#include "recorder/cli/file_kind.h"
#include "recorder/cli/output.h"

namespace tidemark::cli {

Result<ExportOutput> ExportOutput::open(const std::string& path, bool force) {
    ExportOutput output;
    if (path == "-") {
        return output;
    }
    TIDEMARK_TRY(may_write_report(path, force));
    auto file = PartFile::create(path, force ? IfExists::replace : IfExists::fail, FileAccess::umask);
    if (!file) {
        return file.error();
    }
    output.file_ = *std::move(file);
    return output;
}

Status ExportOutput::write(std::string_view bytes) {
    bytes_ += static_cast<int64_t>(bytes.size());
    return file_ ? file_->write(bytes) : print_clean(bytes);
}

Status ExportOutput::keep() { return file_ ? file_->keep() : Status(); }

}  // namespace tidemark::cli
