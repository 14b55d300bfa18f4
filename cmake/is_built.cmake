# cmake -Dprogram=FILE -P is_built.cmake: fails where a program of tests is not there.
if(NOT EXISTS ${program})
  message(FATAL_ERROR " ${program} is not built, and its tests do not run: cmake --build --preset default builds all")
endif()
