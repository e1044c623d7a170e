// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Writes output files. A file appears complete under its name, or not at all.
//
// The content goes to a new file next to the target, "run.tide.RANDOM.part". Its name cannot be guessed and it must not
// exist, so that another user of a shared folder cannot redirect the writing by a link.
#pragma once

#include <string>
#include <string_view>

#include "storage/base/descriptor.h"
#include "storage/base/result.h"

namespace tidemark {

enum class IfExists { fail, replace };

/// Who can read an output file.
enum class FileAccess {
    owner,  ///< only its owner: mode 0600
    umask,  ///< as the umask says
};

/// An output file that is removed unless it is kept. Locked while it exists, if its file system has locks.
class PartFile {
public:
    /// Creates the file, and removes those that killed writers of this target left. Errors (environment): the target
    /// exists and must not be replaced; the folder cannot be written; this user is writing the same target.
    static Result<PartFile> create(const std::string& target, IfExists if_exists, FileAccess access);
    PartFile(PartFile&& other) noexcept = default;
    PartFile& operator=(PartFile&& other) noexcept;
    ~PartFile();

    const std::string& path() const { return path_; }
    const std::string& target() const { return target_; }

    /// Appends bytes. Error (environment): a full disk.
    Status write(std::string_view bytes);
    /// Gives the file the target's name. Errors (environment): the target was created meanwhile and must not be
    /// replaced; a full disk.
    Status keep();

private:
    PartFile(std::string target, IfExists if_exists, std::string path, Descriptor file)
        : target_(std::move(target)), if_exists_(if_exists), path_(std::move(path)), file_(std::move(file)) {}
    Error refusal(int reason) const;

    std::string target_;
    IfExists if_exists_;
    std::string path_;
    Descriptor file_;
};

/// Writes a whole file, and replaces an existing one. Writes directly into a device or a pipe.
Status write_file(const std::string& path, std::string_view bytes, FileAccess access = FileAccess::umask);

/// Writes all bytes to a descriptor. Returns 0 or the error number.
int write_all(int descriptor, std::string_view bytes);

}  // namespace tidemark
