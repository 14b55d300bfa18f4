# libtorch as the imported target tessera_torch: for Tessera's build and, installed beside TesseraConfig.cmake, for every project
# that uses it. Torch's own package file is not used: it insists on a CUDA toolkit.
set(TESSERA_TORCH_SERIES 2.11)

# In `problem`, why the torch package in `folder` does not suit; empty where it does.
function(tessera_torch_problem folder problem)
  set(header ${folder}/include/torch/headeronly/version.h)
  if(NOT EXISTS ${header} OR NOT EXISTS ${folder}/lib/libtorch_cpu.so)
    set(${problem} "no torch ${TESSERA_TORCH_SERIES}" PARENT_SCOPE)
    return()
  endif()
  file(STRINGS ${header} lines REGEX "define TORCH_VERSION_M(AJOR|INOR) ")
  string(REGEX REPLACE "[^0-9]+([0-9]+)[^0-9]+([0-9]+)" "\\1.\\2" version "${lines}")
  if(NOT version STREQUAL TESSERA_TORCH_SERIES)
    set(${problem} "torch ${version}" PARENT_SCOPE)
  elseif(NOT EXISTS ${folder}/lib/libtorch_cuda.so)
    set(${problem} "a torch ${version} without CUDA" PARENT_SCOPE)
  else()
    set(${problem} "" PARENT_SCOPE)
  endif()
endfunction()

# In `folder`, where `python` finds its torch package; empty where it has none. Nothing is imported, which would take seconds.
function(tessera_torch_of_python python folder)
  execute_process(
    COMMAND ${python} -c "import importlib.util as u; s = u.find_spec('torch'); print(s.submodule_search_locations[0] if s else '')"
    OUTPUT_VARIABLE found OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  set(${folder} "${found}" PARENT_SCOPE)
endfunction()

# Defines tessera_torch from a torch package. Its wheel keeps the CUDA runtime beside it, other packages inside.
function(tessera_define_torch folder)
  add_library(tessera_torch INTERFACE IMPORTED GLOBAL)
  target_include_directories(tessera_torch INTERFACE ${folder}/include ${folder}/include/torch/csrc/api/include)
  foreach(library IN ITEMS c10 torch_cpu torch c10_cuda torch_cuda)
    target_link_libraries(tessera_torch INTERFACE ${folder}/lib/lib${library}.so)
  endforeach()
  get_filename_component(cuda ${folder}/../nvidia/cu13 ABSOLUTE)
  if(EXISTS ${cuda}/lib/libcudart.so.13)
    target_link_libraries(tessera_torch INTERFACE ${cuda}/lib/libcudart.so.13)
  endif()
endfunction()
