# What every target of ours is compiled with. No text of a build names a folder of this machine: ccache's base_dir makes the
# paths relative to the build folder, so both forms are mapped.
file(RELATIVE_PATH source_from_build ${PROJECT_BINARY_DIR} ${PROJECT_SOURCE_DIR})
string(REGEX REPLACE "/$" "" source_from_build ${source_from_build})
function(tessera_options target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Werror -Wno-missing-field-initializers -Wno-restrict
                         -fmacro-prefix-map=${PROJECT_SOURCE_DIR}/= -fmacro-prefix-map=${source_from_build}/=)
endfunction()

# One target per folder. tessera_room(NAME SOURCES ... NEEDS ...) declares the folder's static library; the direction
# of the NEEDS is the plan of the house and tests/architecture_test.cpp checks the includes against it.
function(tessera_room name)
  cmake_parse_arguments(ROOM "" "" "SOURCES;NEEDS" ${ARGN})
  add_library(tessera_${name} STATIC ${ROOM_SOURCES})
  target_include_directories(tessera_${name} PUBLIC ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/include)
  tessera_options(tessera_${name})
  target_link_libraries(tessera_${name} PUBLIC ${ROOM_NEEDS})
endfunction()
