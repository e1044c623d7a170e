# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

# Extracts the sentences of all Words from the sources, compiles the catalogs and embeds them.
find_program(XGETTEXT xgettext REQUIRED)
find_program(MSGFMT msgfmt REQUIRED)
find_program(MSGMERGE msgmerge REQUIRED)

set(translations_folder ${PROJECT_SOURCE_DIR}/resources/translations)
set(text_folder ${CMAKE_CURRENT_LIST_DIR})

# Adds the compiled catalogs to a library.
function(tidemark_embed_catalogs target)
  set(catalog ${CMAKE_CURRENT_BINARY_DIR}/zh_CN.mo)
  set(embedded ${CMAKE_CURRENT_BINARY_DIR}/zh_CN.mo.cpp)
  add_custom_command(
    OUTPUT ${embedded}
    COMMAND ${MSGFMT} --check-format --check-domain --output-file=${catalog} ${translations_folder}/zh_CN.po
    COMMAND ${CMAKE_COMMAND} -D catalog=${catalog} -D output=${embedded} -D name=zh_cn_catalog
            -P ${text_folder}/embed_catalog.cmake
    DEPENDS ${translations_folder}/zh_CN.po ${text_folder}/embed_catalog.cmake
    COMMENT "Compiling the catalog zh_CN"
    VERBATIM)
  target_sources(${target} PRIVATE ${embedded})
  set_source_files_properties(${embedded} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
endfunction()

# Compiles the catalog of the Python package's sentences: a small part of all of them, which it reads by itself.
find_program(MSGGREP msggrep REQUIRED)
function(tidemark_compile_python_catalog catalog)
  set(catalogs ${PROJECT_SOURCE_DIR}/resources/translations)
  set(part ${CMAKE_CURRENT_BINARY_DIR}/zh_CN.python.po)
  add_custom_command(
    OUTPUT ${catalog}
    COMMAND ${MSGGREP} --location=recorder/python/tidemark/* --output-file=${part} ${catalogs}/zh_CN.po
    COMMAND ${MSGFMT} --check-format --check-domain --output-file=${catalog} ${part}
    DEPENDS ${catalogs}/zh_CN.po
    COMMENT "Compiling the catalog zh_CN of the Python package"
    VERBATIM)
endfunction()

# Generates the template of all catalogs, tidemark.pot in the build folder. `ninja update_translations` updates the
# catalogs from the sources: it adds new sentences without a translation and removes unused ones.
file(GLOB_RECURSE speaking_sources CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}
     ${PROJECT_SOURCE_DIR}/storage/*.cpp ${PROJECT_SOURCE_DIR}/storage/*.h ${PROJECT_SOURCE_DIR}/recorder/cli/*.cpp
     ${PROJECT_SOURCE_DIR}/recorder/cli/*.h ${PROJECT_SOURCE_DIR}/recorder/control/*.cpp
     ${PROJECT_SOURCE_DIR}/recorder/control/*.h ${PROJECT_SOURCE_DIR}/recorder/daemon/*.cpp
     ${PROJECT_SOURCE_DIR}/recorder/daemon/*.h ${PROJECT_SOURCE_DIR}/recorder/driver/*.cpp
     ${PROJECT_SOURCE_DIR}/recorder/driver/*.h ${PROJECT_SOURCE_DIR}/recorder/reader/*.cpp
     ${PROJECT_SOURCE_DIR}/recorder/reader/*.h ${PROJECT_SOURCE_DIR}/gui/*.cpp ${PROJECT_SOURCE_DIR}/gui/*.h)
list(JOIN speaking_sources "\n" source_list)
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/speaking_sources.txt CONTENT "${source_list}\n" @ONLY)
list(TRANSFORM speaking_sources PREPEND ${PROJECT_SOURCE_DIR}/ OUTPUT_VARIABLE speaking_paths)
file(GLOB_RECURSE speaking_scripts CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}
     ${PROJECT_SOURCE_DIR}/recorder/python/tidemark/*.py)
list(TRANSFORM speaking_scripts PREPEND ${PROJECT_SOURCE_DIR}/ OUTPUT_VARIABLE speaking_script_paths)
set(TIDEMARK_TRANSLATIONS_TEMPLATE ${PROJECT_BINARY_DIR}/tidemark.pot)
add_custom_command(
  OUTPUT ${TIDEMARK_TRANSLATIONS_TEMPLATE}
  COMMAND ${XGETTEXT} --language=C++ --from-code=UTF-8 --keyword --keyword=words:1 --keyword=words_:1
          --keyword=plural:2,3 --keyword=Literal:1 --keyword=Sentence:1 --keyword=usage_error:1 --keyword=input_error:1
          --keyword=environment_error:1 --add-location=file --package-name=Tidemark --directory=${PROJECT_SOURCE_DIR}
          --files-from=${PROJECT_BINARY_DIR}/speaking_sources.txt --output=${TIDEMARK_TRANSLATIONS_TEMPLATE}
  COMMAND ${XGETTEXT} --language=Python --from-code=UTF-8 --keyword --keyword=Sentence:1 --join-existing
          --add-location=file --package-name=Tidemark --directory=${PROJECT_SOURCE_DIR} ${speaking_scripts}
          --output=${TIDEMARK_TRANSLATIONS_TEMPLATE}
  DEPENDS ${speaking_paths} ${speaking_script_paths} ${PROJECT_BINARY_DIR}/speaking_sources.txt
  COMMENT "Extracting the sentences to translate"
  VERBATIM)
add_custom_target(translations_template ALL DEPENDS ${TIDEMARK_TRANSLATIONS_TEMPLATE})
add_custom_target(update_translations
  COMMAND ${MSGMERGE} --update --backup=none --no-fuzzy-matching --add-location=file --width=120
          ${translations_folder}/zh_CN.po ${TIDEMARK_TRANSLATIONS_TEMPLATE}
  COMMAND msgattrib --no-obsolete --width=120 --output-file=${translations_folder}/zh_CN.po
          ${translations_folder}/zh_CN.po
  DEPENDS ${TIDEMARK_TRANSLATIONS_TEMPLATE}
  VERBATIM)
