# libtorch 2.11 as imported targets, and the CUDA headers and NVRTC that its wheel brings. Where no torch 2.11 is found
# the pinned wheel is installed into a virtual environment in the per-user folder of dependencies.
set(TESSERA_TORCH_VERSION 2.11.0)
set(TESSERA_TORCH_PYTHON "" CACHE FILEPATH "Python whose torch ${TESSERA_TORCH_VERSION} is used")

set(query "import torch, sys, pathlib; print(torch.__version__.split('+')[0], pathlib.Path(torch.__file__).parent, sep=';')")
function(tessera_query_torch python result)
  execute_process(COMMAND ${python} -c "${query}" OUTPUT_VARIABLE found OUTPUT_STRIP_TRAILING_WHITESPACE
                  ERROR_QUIET RESULT_VARIABLE failed)
  set(${result} "" PARENT_SCOPE)
  if(NOT failed)
    list(GET found 0 version)
    list(GET found 1 folder)
    if(version VERSION_EQUAL TESSERA_TORCH_VERSION)
      set(${result} ${folder} PARENT_SCOPE)
    endif()
  endif()
endfunction()

if(NOT EXISTS "${TESSERA_TORCH_DIR}/lib/libtorch_cpu.so")
  set(venv ${TESSERA_DEPS_DIR}/torch-${TESSERA_TORCH_VERSION})
  foreach(python IN ITEMS ${TESSERA_TORCH_PYTHON} ${Python3_EXECUTABLE} ${venv}/bin/python3)
    tessera_query_torch(${python} folder)
    if(folder)
      set(found_python ${python})
      break()
    endif()
  endforeach()
  if(NOT folder)
    message(STATUS "Installing torch ${TESSERA_TORCH_VERSION} from PyPI into ${venv} (5 GB, some minutes)")
    execute_process(COMMAND ${Python3_EXECUTABLE} -m venv ${venv} RESULT_VARIABLE failed ERROR_VARIABLE log)
    if(NOT failed)
      execute_process(COMMAND ${venv}/bin/python3 -m pip install --quiet --disable-pip-version-check
                              torch==${TESSERA_TORCH_VERSION} numpy==2.3.5 RESULT_VARIABLE failed ERROR_VARIABLE log)
    endif()
    tessera_query_torch(${venv}/bin/python3 folder)
    set(found_python ${venv}/bin/python3)
    if(failed OR NOT folder)
      message(FATAL_ERROR "Tessera needs torch ${TESSERA_TORCH_VERSION}: pip could not install it into ${venv}.\n${log}\n"
                          "Install it yourself (pip install torch==${TESSERA_TORCH_VERSION}) and configure with "
                          "-DTESSERA_TORCH_PYTHON=/path/to/python3.")
    endif()
  endif()
  set(TESSERA_TORCH_DIR ${folder} CACHE PATH "Folder of the torch package" FORCE)
  set(TESSERA_PYTHON ${found_python} CACHE FILEPATH "Python that imports that torch" FORCE)
endif()

get_filename_component(site ${TESSERA_TORCH_DIR} DIRECTORY)
set(TESSERA_CUDA_DIR ${site}/nvidia/cu13)
add_library(tessera_torch INTERFACE)
target_include_directories(tessera_torch SYSTEM INTERFACE
  ${TESSERA_TORCH_DIR}/include ${TESSERA_TORCH_DIR}/include/torch/csrc/api/include ${TESSERA_CUDA_DIR}/include)
foreach(library IN ITEMS c10 torch_cpu torch c10_cuda torch_cuda)
  target_link_libraries(tessera_torch INTERFACE ${TESSERA_TORCH_DIR}/lib/lib${library}.so)
endforeach()
target_link_libraries(tessera_torch INTERFACE ${TESSERA_CUDA_DIR}/lib/libcudart.so.13)

# The driver's and NVRTC's headers; both libraries are opened at run time.
add_library(tessera_cuda_headers INTERFACE)
target_include_directories(tessera_cuda_headers SYSTEM INTERFACE ${TESSERA_CUDA_DIR}/include)
