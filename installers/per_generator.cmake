# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

# CPack reads this file once for each kind of package.
#
# A TGZ contains the full texts of the licenses. A DEB does not: Debian installs them in /usr/share/common-licenses.
if(CPACK_GENERATOR STREQUAL "TGZ")
  set(CPACK_COMPONENT_INCLUDE_TOPLEVEL_DIRECTORY ON)
  set(CPACK_COMPONENTS_GROUPING ONE_PER_GROUP)
  foreach(component IN LISTS CPACK_COMPONENTS_ALL)
    list(APPEND CPACK_COMPONENTS_ALL ${component}_license)
  endforeach()
endif()
