# The torch that Tessera is built for, with the CUDA headers that its wheel brings: the one of TESSERA_TORCH_PYTHON, else of the
# Python found, else a pinned wheel in a virtual environment in the folder of dependencies.
include(TesseraTorch)
set(TESSERA_TORCH_PYTHON "" CACHE FILEPATH "Python whose torch ${TESSERA_TORCH_SERIES} is used")
set(torch_wheel torch==2.11.0)
set(torch_environment ${TESSERA_DEPS_DIR}/torch-2.11.0)

# An environment made --without-pip and filled from outside: Debian's Python lacks what a whole one needs.
function(tessera_install_torch)
  execute_process(COMMAND ${Python3_EXECUTABLE} -m venv --without-pip ${torch_environment} RESULT_VARIABLE failed ERROR_VARIABLE log)
  if(failed)
    message(FATAL_ERROR "Tessera's build keeps torch in a virtual environment, ${torch_environment}, and ${Python3_EXECUTABLE} could "
                        "not create it:\n${log}Choose a folder that can be written (-DTESSERA_DEPS_DIR=FOLDER), or name a Python that "
                        "has torch ${TESSERA_TORCH_SERIES}: -DTESSERA_TORCH_PYTHON=FILE.")
  endif()
  file(GLOB site ${torch_environment}/lib/python3*/site-packages)
  tessera_pip("torch 2.11.0 (5 GB, some minutes)" ${site} 9000 ${torch_wheel} "numpy>=2.1,<2.5")
endfunction()

# The torch of the first Python that has one that suits: sets found_torch and found_python, and what was seen in `seen`.
macro(tessera_search_torch)
  foreach(python IN ITEMS ${ARGN})
    tessera_torch_of_python(${python} folder)
    tessera_torch_problem("${folder}" problem)
    if(NOT problem AND NOT found_torch)
      set(found_torch ${folder})
      set(found_python ${python})
    endif()
    string(APPEND seen "  ${python}: ${problem}\n")
  endforeach()
endmacro()

tessera_torch_problem("${TESSERA_TORCH_DIR}" problem)
if(problem OR NOT "${TESSERA_TORCH_PYTHON}" STREQUAL "${TESSERA_TORCH_ASKED}")
  set(found_torch "")
  if(TESSERA_TORCH_PYTHON)
    tessera_search_torch(${TESSERA_TORCH_PYTHON})
    if(NOT found_torch)
      message(FATAL_ERROR "Tessera's build needs torch ${TESSERA_TORCH_SERIES} for CUDA 13, and TESSERA_TORCH_PYTHON has none:\n${seen}"
                          "Install it there (pip install ${torch_wheel}), or leave TESSERA_TORCH_PYTHON empty: then the build does.")
    endif()
  else()
    tessera_search_torch(${Python3_EXECUTABLE})
    if(NOT found_torch)
      tessera_install_once(${torch_environment} tessera_install_torch)
      tessera_search_torch(${torch_environment}/bin/python3)
    endif()
  endif()
  set(TESSERA_TORCH_DIR ${found_torch} CACHE PATH "Folder of the torch package" FORCE)
  set(TESSERA_PYTHON ${found_python} CACHE FILEPATH "Python that has that torch" FORCE)
  set(TESSERA_TORCH_ASKED "${TESSERA_TORCH_PYTHON}" CACHE INTERNAL "The TESSERA_TORCH_PYTHON that it was found for")
endif()
message(STATUS "torch: ${TESSERA_TORCH_DIR}")

get_filename_component(TESSERA_CUDA_DIR ${TESSERA_TORCH_DIR}/../nvidia/cu13 ABSOLUTE)
if(NOT EXISTS ${TESSERA_CUDA_DIR}/include/nvrtc.h OR NOT EXISTS ${TESSERA_CUDA_DIR}/lib/libcudart.so.13)
  message(FATAL_ERROR "Tessera's build uses the CUDA 13 headers and runtime that torch's wheel brings, and ${TESSERA_CUDA_DIR} has "
                      "none. Install torch with its dependencies (pip install ${torch_wheel}), or let the build do it.")
endif()
tessera_define_torch(${TESSERA_TORCH_DIR})
target_include_directories(tessera_torch INTERFACE ${TESSERA_CUDA_DIR}/include)

# The driver's and NVRTC's headers; both libraries are opened at run time.
add_library(tessera_cuda_headers INTERFACE)
target_include_directories(tessera_cuda_headers SYSTEM INTERFACE ${TESSERA_CUDA_DIR}/include)
