# What an outside project gets: the public headers, one static library made of every layer below the CLI, the
# `sallyport` program, and the files by which CMake and pkg-config find them. The layers themselves are not installed:
# sallyport::sallyport is the only name a caller can link.
include_guard(GLOBAL)
include(CMakePackageConfigHelpers)

# The gate, and whatever it is linked with: a layer to its right (a job, the attacks, the CLI) is in it only when the gate needs it.
get_property(known_layers GLOBAL PROPERTY SALLYPORT_LAYERS)
set(layers "")
set(needed gate)
while(needed)
  list(POP_FRONT needed layer)
  if(NOT layer IN_LIST known_layers)
    message(FATAL_ERROR "the library would hold sallyport::${layer}, which is not a layer")
  endif()
  list(APPEND layers ${layer})
  get_property(layer_libraries GLOBAL PROPERTY SALLYPORT_LAYER_LIBS_${layer})
  list(FILTER layer_libraries INCLUDE REGEX "^sallyport::")
  list(TRANSFORM layer_libraries REPLACE "^sallyport::" "")
  list(APPEND needed ${layer_libraries})
  list(REMOVE_DUPLICATES needed)
  list(REMOVE_ITEM needed ${layers} api)
endwhile()
set(objects "")
set(libraries "")
foreach(layer IN LISTS layers)
  list(APPEND objects $<TARGET_OBJECTS:sallyport_${layer}>)
  get_property(layer_libraries GLOBAL PROPERTY SALLYPORT_LAYER_LIBS_${layer})
  list(APPEND libraries ${layer_libraries})
endforeach()
list(REMOVE_DUPLICATES libraries)

add_library(libsallyport STATIC ${objects})
add_library(sallyport::sallyport ALIAS libsallyport)
set_target_properties(libsallyport PROPERTIES OUTPUT_NAME sallyport EXPORT_NAME sallyport LINKER_LANGUAGE CXX
                                              ARCHIVE_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")
set_target_properties(sallyport_api PROPERTIES EXPORT_NAME api)
target_link_libraries(libsallyport INTERFACE sallyport::api)

# What the installed archive must be linked with. An unknown library stops the configuration here, on our machine,
# rather than the link on a caller's.
set(pkgconfig_libraries "")
foreach(library IN LISTS libraries)
  if(library MATCHES "^sallyport::" OR library MATCHES "^(Fmt::Declared|nlohmann_json::nlohmann_json)$")
    # Our own, or used up when our objects were compiled.
  elseif(library STREQUAL "OpenSSL::SSL")
    target_link_libraries(libsallyport INTERFACE $<LINK_ONLY:OpenSSL::SSL>)
    list(PREPEND pkgconfig_libraries -lssl)
  elseif(library STREQUAL "OpenSSL::Crypto")
    target_link_libraries(libsallyport INTERFACE $<LINK_ONLY:OpenSSL::Crypto>)
    list(APPEND pkgconfig_libraries -lcrypto)
  elseif(library STREQUAL "Idn2::Idn2")
    target_link_libraries(libsallyport INTERFACE idn2 unistring)
    list(APPEND pkgconfig_libraries -lidn2 -lunistring)
  elseif(library STREQUAL "CAres::CAres")
    target_link_libraries(libsallyport INTERFACE cares)
    list(APPEND pkgconfig_libraries -lcares)
  elseif(library STREQUAL "Threads::Threads")
    target_link_libraries(libsallyport INTERFACE $<LINK_ONLY:Threads::Threads>)
    list(APPEND pkgconfig_libraries -pthread)
  elseif(library MATCHES "^(PkgConfig::)(.*)$")
    string(TOLOWER "${CMAKE_MATCH_2}" name)
    string(REGEX REPLACE "^lib" "" name "${name}")
    target_link_libraries(libsallyport INTERFACE ${name})
    list(APPEND pkgconfig_libraries -l${name})
  else()
    message(FATAL_ERROR "cmake/SallyportInstall.cmake does not know how an outside project links ${library}")
  endif()
endforeach()
list(JOIN pkgconfig_libraries " " SALLYPORT_PC_LIBS)

install(TARGETS libsallyport sallyport_api EXPORT sallyport ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}")
install(TARGETS sallyport RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/sallyport" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
        FILES_MATCHING PATTERN "*.h")

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/sallyport")
install(EXPORT sallyport FILE sallyportTargets.cmake NAMESPACE sallyport:: DESTINATION "${package_dir}")
configure_package_config_file("${CMAKE_CURRENT_LIST_DIR}/sallyportConfig.cmake.in" sallyportConfig.cmake
                              INSTALL_DESTINATION "${package_dir}" NO_SET_AND_CHECK_MACRO)
# Before 1.0 a minor version may change names.
write_basic_package_version_file(sallyportConfigVersion.cmake COMPATIBILITY SameMinorVersion)
# The prefix is known when it is installed (cmake --install --prefix), not before.
set(SALLYPORT_PC_PREFIX "@SALLYPORT_PC_PREFIX@")
configure_file("${CMAKE_CURRENT_LIST_DIR}/sallyport.pc.in" sallyport.pc.in @ONLY)
install(CODE "
  set(SALLYPORT_PC_PREFIX \"\${CMAKE_INSTALL_PREFIX}\")
  configure_file(\"${PROJECT_BINARY_DIR}/sallyport.pc.in\" \"${PROJECT_BINARY_DIR}/sallyport.pc\" @ONLY)")
install(FILES "${PROJECT_BINARY_DIR}/sallyportConfig.cmake" "${PROJECT_BINARY_DIR}/sallyportConfigVersion.cmake"
        DESTINATION "${package_dir}")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/policies" DESTINATION "${CMAKE_INSTALL_DATADIR}/sallyport"
        FILES_MATCHING PATTERN "*.toml")
install(FILES "${PROJECT_BINARY_DIR}/sallyport.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
