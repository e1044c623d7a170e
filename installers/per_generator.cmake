# Read by CPack once for each kind of package.
#
# A TGZ is one folder that brings the full text of the licence; a DEB goes to /usr, and Debian has that text already.
if(CPACK_GENERATOR STREQUAL "TGZ")
  set(CPACK_COMPONENT_INCLUDE_TOPLEVEL_DIRECTORY ON)
  set(CPACK_COMPONENTS_GROUPING ONE_PER_GROUP)
  foreach(component IN LISTS CPACK_COMPONENTS_ALL)
    list(APPEND CPACK_COMPONENTS_ALL ${component}_licence)
  endforeach()
endif()
