# One target per folder. tessera_room(NAME SOURCES ... NEEDS ...) declares the folder's object library; the direction
# of the NEEDS is the plan of the house and tests/architecture_test.cpp checks the includes against it.
function(tessera_room name)
  cmake_parse_arguments(ROOM "" "" "SOURCES;NEEDS" ${ARGN})
  add_library(tessera_${name} STATIC ${ROOM_SOURCES})
  target_include_directories(tessera_${name} PUBLIC ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/include)
  target_compile_options(tessera_${name} PRIVATE -Wall -Wextra -Werror -Wno-missing-field-initializers -Wno-restrict
                         -fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=)
  target_link_libraries(tessera_${name} PUBLIC ${ROOM_NEEDS})
endfunction()
