// Lines of source files that happen to be on this machine.
#pragma once

#include <QHash>
#include <QString>
#include <QStringList>
#include <optional>

namespace tidemark::gui {

/// Reads a file once, at most its first 2 MiB, and keeps its lines. Files that cannot be read are remembered too.
class SourceLines {
public:
    /// Line `number` (from 1) without surrounding blanks; nothing if the file or the line is not there.
    std::optional<QString> line(const QString& file, int number);

private:
    QHash<QString, QStringList> files_;
};

}  // namespace tidemark::gui
