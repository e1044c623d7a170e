# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

# Writes a C++ file with the lists in `folder` as constants of storage/export/public_names.h.
set(code "#include \"storage/export/public_names.h\"\n\nnamespace tidemark::vocabulary {\n")
foreach(name IN ITEMS devices libraries modules nodes ops packages saved words)
  file(READ ${folder}/${name}.txt text)
  string(APPEND code "const std::string_view ${name} = R\"list(${text})list\";\n")
endforeach()
file(WRITE ${output} "${code}}  // namespace tidemark::vocabulary\n")
