# tessera_test(NAME LABEL unit|compile|torch|gpu SOURCES ... NEEDS ...): the tests of one folder as one program; ctest knows
# each of them by name.
function(tessera_test name)
  cmake_parse_arguments(TEST "" "LABEL" "SOURCES;NEEDS" ${ARGN})
  add_executable(${name} ${TEST_SOURCES})
  tessera_options(${name})
  target_link_libraries(${name} PRIVATE ${TEST_NEEDS} GTest::gtest_main)
  # Tests on the GPU fill its memory and measure it: one at a time.
  set(alone "")
  if(TEST_LABEL STREQUAL gpu)
    set(alone RESOURCE_LOCK gpu)
  endif()
  gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST PROPERTIES LABELS ${TEST_LABEL} ${alone}
    ENVIRONMENT TESSERA_NVRTC=${TESSERA_CUDA_DIR}/lib/libnvrtc.so.13
    ENVIRONMENT_MODIFICATION TESSERA_CACHE_DIR=set:${PROJECT_BINARY_DIR}/test-cache)
  # What is not built has no tests that a label finds: this one fails then.
  add_test(NAME ${name}.is_built COMMAND ${CMAKE_COMMAND} -Dprogram=$<TARGET_FILE:${name}>
                                         -P ${PROJECT_SOURCE_DIR}/cmake/is_built.cmake)
  set_tests_properties(${name}.is_built PROPERTIES LABELS ${TEST_LABEL})
endfunction()
