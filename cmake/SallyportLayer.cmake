# One static library per layer, with the project's language level, warnings and sanitizers.
#
#   sallyport_layer(core SOURCES a.cc b.cc PUBLIC sallyport::api PRIVATE OpenSSL::Crypto TESTS a_test.cc)
#
# makes sallyport_core (alias sallyport::core) and, from TESTS, one test program core_test.
include_guard(GLOBAL)

function(sallyport_compile_options target)
  target_compile_features(${target} PUBLIC cxx_std_23)
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF POSITION_INDEPENDENT_CODE ON)
  # The public macro by a short name, for our own sources only: an installed header defines nothing without our prefix.
  target_compile_definitions(${target} PRIVATE TRY=SALLYPORT_TRY)
  # So that a program can leave out what it does not use: each window of its text that it touches is a page fault.
  target_compile_options(${target} PRIVATE -ffunction-sections -fdata-sections)
  # An option struct's defaults deny, so a designated initialiser that leaves a field out says something safe.
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion
                                           -Wnon-virtual-dtor -Wold-style-cast -Woverloaded-virtual
                                           -Wno-missing-field-initializers)
  # clang blames us for what libstdc++ 12 deprecates inside its own std::stable_sort; g++ still checks our code.
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:Clang>:-Wno-deprecated-declarations>)
  if(SALLYPORT_WERROR)
    # At -O3 g++ 12 reports these in libstdc++ and fmt code that is right (GCC bug 105329 and its kin): shown, not fatal.
    target_compile_options(${target} PRIVATE -Werror
      $<$<CXX_COMPILER_ID:GNU>:-Wno-error=restrict;-Wno-error=stringop-overflow;-Wno-error=stringop-overread>
      $<$<CXX_COMPILER_ID:GNU>:-Wno-error=array-bounds;-Wno-error=maybe-uninitialized>)
  else()
    # A user who only builds the project does not see these false warnings.
    target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  endif()
  if(SALLYPORT_SANITIZE)
    # Without vptr: it opens a pipe to check whether memory is mapped. In a process without free descriptors, which some tests
    # make, it reports errors that are none.
    target_compile_options(${target} PRIVATE -fsanitize=${SALLYPORT_SANITIZE} -fno-omit-frame-pointer
                                             -fno-sanitize-recover=all
                                             $<$<CXX_COMPILER_ID:Clang>:-fno-sanitize=vptr>)
    target_compile_definitions(${target} PRIVATE SALLYPORT_SANITIZED)
    target_link_options(${target} PUBLIC -fsanitize=${SALLYPORT_SANITIZE})
  endif()
endfunction()

# Parses what nearly every source includes once, and not for each of them: a quarter of a build's time. Sources still
# include what they use, which clang-tidy shows, that parses without it. A target that reuses one must be compiled
# with the same macros, so there are two: for the layers, and for the tests, which have GoogleTest too.
#   sallyport_precompile(layer | test)
function(sallyport_precompile kind)
  set(target sallyport_precompiled_${kind})
  set(source "${CMAKE_BINARY_DIR}/precompiled/${kind}.cc")
  file(CONFIGURE OUTPUT "${source}" CONTENT "// Nothing: the headers are all.\n")
  add_library(${target} OBJECT "${source}")
  sallyport_compile_options(${target})
  target_precompile_headers(${target} PRIVATE
    <algorithm> <array> <chrono> <expected> <filesystem> <functional> <map> <memory> <mutex> <optional> <set> <span> <string>
    <string_view> <utility> <variant> <vector> <fmt/format.h> <nlohmann/json.hpp>)
  target_link_libraries(${target} PRIVATE Fmt::Declared nlohmann_json::nlohmann_json)
  if(kind STREQUAL layer)
    sallyport_harden(${target})
  else()
    # As a program's sources are compiled.
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    target_compile_options(${target} PRIVATE -fPIE)
    target_precompile_headers(${target} PRIVATE <gtest/gtest.h> <gmock/gmock.h>)
    target_link_libraries(${target} PRIVATE GTest::gtest GTest::gmock)
  endif()
endfunction()

function(sallyport_use_precompiled target kind)
  if(SALLYPORT_PRECOMPILE)
    target_precompile_headers(${target} REUSE_FROM sallyport_precompiled_${kind})
  endif()
endfunction()

# What costs little and stops a bug from becoming an exploit. Not for the spawn helper: its unit between clone and exec
# may refer to nothing but its approved symbols.
function(sallyport_harden target)
  target_compile_options(${target} PRIVATE -fstack-protector-strong)
  target_compile_definitions(${target} PRIVATE _GLIBCXX_ASSERTIONS)
  if(NOT SALLYPORT_SANITIZE)
    target_compile_options(${target} PRIVATE $<$<CONFIG:Release,RelWithDebInfo>:-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2>)
  endif()
endfunction()

function(sallyport_layer name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;PUBLIC;PRIVATE;TESTS;TEST_LIBS")
  add_library(sallyport_${name} STATIC ${arg_SOURCES})
  add_library(sallyport::${name} ALIAS sallyport_${name})
  sallyport_compile_options(sallyport_${name})
  sallyport_harden(sallyport_${name})
  sallyport_use_precompiled(sallyport_${name} layer)
  target_include_directories(sallyport_${name} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src>)
  target_link_libraries(sallyport_${name} PUBLIC ${arg_PUBLIC} PRIVATE ${arg_PRIVATE})
  set_property(GLOBAL APPEND PROPERTY SALLYPORT_LAYERS ${name})
  set_property(GLOBAL PROPERTY SALLYPORT_LAYER_LIBS_${name} ${arg_PUBLIC} ${arg_PRIVATE})
  if(SALLYPORT_TESTS AND arg_TESTS)
    sallyport_test(${name}_test SOURCES ${arg_TESTS} LIBS sallyport::${name} ${arg_TEST_LIBS})
  endif()
endfunction()

# One GoogleTest program; each of its tests becomes one ctest test in its own process.
function(sallyport_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LIBS;LABELS")
  add_executable(${name} ${arg_SOURCES})
  sallyport_compile_options(${name})
  sallyport_use_precompiled(${name} test)
  target_link_libraries(${name} PRIVATE ${arg_LIBS} GTest::gtest GTest::gmock GTest::gtest_main rapidcheck)
  # The value of a parameter is no part of a name: the bytes of a struct hold addresses, which differ each time.
  gtest_discover_tests(${name} TEST_PREFIX "${name}." NO_PRETTY_VALUES DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT 300 LABELS "${arg_LABELS}")
endfunction()

# For a layer's tests that need a process of their own: only this one file, as the rest of tests/support needs the
# finished program.
function(sallyport_test_forks name)
  set(forked ${PROJECT_SOURCE_DIR}/tests/support/forked.cc)
  target_sources(${name} PRIVATE ${forked})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  # Alone, so that the chokepoint check sees that the fork is the support's, not the layer's.
  set_source_files_properties(${forked} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()
