# Run by ctest (see CMakeLists.txt); stops at the first thing that does not hold.
cmake_minimum_required(VERSION 3.25)
set(work "${build_dir}/package-test")
set(prefix "${work}/prefix")
file(REMOVE_RECURSE "${work}")

function(run)
  execute_process(COMMAND ${ARGV} COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
endfunction()

run("${CMAKE_COMMAND}" --install "${build_dir}" --prefix "${prefix}")

# The consumer is copied away, so that nothing beside it can be found by a relative path.
file(COPY "${CMAKE_CURRENT_LIST_DIR}/consumer" DESTINATION "${work}")
set(configure "${CMAKE_COMMAND}" -G "${generator}" -S "${work}/consumer" "-DCMAKE_CXX_COMPILER=${cxx}"
              "-DCMAKE_PREFIX_PATH=${prefix}" -DCMAKE_FIND_USE_PACKAGE_REGISTRY=OFF -DCMAKE_EXPORT_COMPILE_COMMANDS=ON)
run(${configure} -B "${work}/build" "-DSALLYPORT_WANTED=${version}")
run("${CMAKE_COMMAND}" --build "${work}/build")
run("${work}/build/consumer" "${work}/consumer")
run("${prefix}/bin/sallyport" --version)

# The program of docs/embedding.md, over a repo of its own.
file(COPY "${source_dir}/examples/embedding" DESTINATION "${work}")
run("${CMAKE_COMMAND}" -G "${generator}" -S "${work}/embedding" -B "${work}/embedding-build" "-DCMAKE_CXX_COMPILER=${cxx}"
    "-DCMAKE_PREFIX_PATH=${prefix}" -DCMAKE_FIND_USE_PACKAGE_REGISTRY=OFF)
run("${CMAKE_COMMAND}" --build "${work}/embedding-build")
run("${source_dir}/tools/make_example_repo.sh" "${work}/build/repo")
execute_process(COMMAND "${work}/embedding-build/embedding" "${work}/build/repo" OUTPUT_VARIABLE printed
                COMMAND_ERROR_IS_FATAL ANY)
if(NOT printed MATCHES "Greet anyone by name.*exit code 0.*net.isolated")
  message(FATAL_ERROR "the example printed something else: ${printed}")
endif()

# The program of README.md, built the same way: it prints the commit that the repo's HEAD names.
file(COPY "${work}/embedding/CMakeLists.txt" DESTINATION "${work}/readme")
run("${python}" -B "${source_dir}/tests/gate/extract_recipe.py" "${source_dir}/README.md" repo_head.cc "${work}/readme/main.cc")
run("${CMAKE_COMMAND}" -G "${generator}" -S "${work}/readme" -B "${work}/readme-build" "-DCMAKE_CXX_COMPILER=${cxx}"
    "-DCMAKE_PREFIX_PATH=${prefix}" -DCMAKE_FIND_USE_PACKAGE_REGISTRY=OFF)
run("${CMAKE_COMMAND}" --build "${work}/readme-build")
execute_process(COMMAND "${work}/readme-build/embedding" "${work}/build/repo" OUTPUT_VARIABLE printed
                COMMAND_ERROR_IS_FATAL ANY)
if(NOT printed MATCHES "^[0-9a-f]+\n$")
  message(FATAL_ERROR "the program of README.md printed something else: ${printed}")
endif()

# pkg-config knows where it was installed, not where it was configured for.
file(READ "${prefix}/${libdir}/pkgconfig/sallyport.pc" pc)
string(FIND "${pc}" "prefix=${prefix}\n" at)
if(NOT at EQUAL 0)
  message(FATAL_ERROR "sallyport.pc names another prefix than ${prefix}: ${pc}")
endif()

# No installed header defines a macro without our prefix. The one that it may define is the control: this search does find macros.
file(GLOB headers "${prefix}/include/sallyport/*.h")
set(defined "")
foreach(header IN LISTS headers)
  file(STRINGS "${header}" found REGEX "^[ \t]*#[ \t]*define[ \t]")
  foreach(line IN LISTS found)
    if(NOT line MATCHES "define[ \t]+SALLYPORT_")
      message(FATAL_ERROR "${header} defines a macro that is not ours by name: ${line}")
    endif()
    string(APPEND defined "${line}\n")
  endforeach()
endforeach()
if(NOT defined MATCHES "SALLYPORT_TRY")
  message(FATAL_ERROR "no installed header defines SALLYPORT_TRY")
endif()

# The program alone, somewhere else, still has its attacks and its ready policies.
file(COPY "${prefix}/bin/sallyport" DESTINATION "${work}/alone")
run("${work}/alone/sallyport" doctor --attack --only ptrace_child)
run("${work}/alone/sallyport" allowlist init node)
if(NOT EXISTS "${prefix}/share/sallyport/policies/node.toml")
  message(FATAL_ERROR "the ready policies were not installed")
endif()

# Only what was installed was used.
file(READ "${work}/build/compile_commands.json" commands)
foreach(folder include src)
  string(FIND "${commands}" "-I${source_dir}/${folder}" at)
  string(FIND "${commands}" "-isystem ${source_dir}/${folder}" system_at)
  if(NOT at EQUAL -1 OR NOT system_at EQUAL -1)
    message(FATAL_ERROR "the consumer was compiled against ${source_dir}/${folder} instead of the installed headers")
  endif()
endforeach()
file(READ "${prefix}/${libdir}/cmake/sallyport/sallyportTargets.cmake" targets)
string(FIND "${targets}" "${source_dir}/" at)
if(NOT at EQUAL -1)
  message(FATAL_ERROR "the installed package names the source tree it was built from")
endif()

# A version nobody has installed is refused: the version file is really consulted.
execute_process(COMMAND ${configure} -B "${work}/build-wrong" -DSALLYPORT_WANTED=99.0 RESULT_VARIABLE result
                OUTPUT_QUIET ERROR_VARIABLE error)
if(result EQUAL 0 OR NOT error MATCHES "99.0")
  message(FATAL_ERROR "find_package(sallyport 99.0) was satisfied by ${version}: ${error}")
endif()
