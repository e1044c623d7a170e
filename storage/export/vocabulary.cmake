# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

# Adds the lists of public names (vocabulary/*.txt) to a library.
function(tidemark_embed_vocabulary target)
  set(folder ${CMAKE_CURRENT_FUNCTION_LIST_DIR})
  set(embedded ${CMAKE_CURRENT_BINARY_DIR}/vocabulary.cpp)
  file(GLOB lists CONFIGURE_DEPENDS ${folder}/vocabulary/*.txt)
  add_custom_command(
    OUTPUT ${embedded}
    COMMAND ${CMAKE_COMMAND} -D folder=${folder}/vocabulary -D output=${embedded} -P ${folder}/embed_vocabulary.cmake
    DEPENDS ${lists} ${folder}/embed_vocabulary.cmake
    COMMENT "Embedding the lists of public names"
    VERBATIM)
  target_sources(${target} PRIVATE ${embedded})
  set_source_files_properties(${embedded} PROPERTIES SKIP_PRECOMPILE_HEADERS ON COMPILE_OPTIONS "-Wno-overlength-strings")
endfunction()
