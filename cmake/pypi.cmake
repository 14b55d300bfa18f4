# tessera_pypi(VAR NAME VERSION [PYTHON X.Y]): unpacks one pinned PyPI wheel, without its dependencies, into the
# per-user folder of dependencies, once, and returns that folder in VAR.
find_package(Python3 3.9 REQUIRED COMPONENTS Interpreter)
if(DEFINED ENV{XDG_CACHE_HOME})
  set(TESSERA_DEPS_DEFAULT $ENV{XDG_CACHE_HOME}/tessera-deps)
else()
  set(TESSERA_DEPS_DEFAULT $ENV{HOME}/.cache/tessera-deps)
endif()
set(TESSERA_DEPS_DIR ${TESSERA_DEPS_DEFAULT} CACHE PATH "Folder that keeps the dependencies the build installs")

function(tessera_pypi var name version)
  cmake_parse_arguments(PYPI "" "PYTHON" "" ${ARGN})
  set(folder ${TESSERA_DEPS_DIR}/${name}-${version})
  if(NOT EXISTS ${folder}/.complete)
    message(STATUS "Installing ${name} ${version} from PyPI into ${folder}")
    file(REMOVE_RECURSE ${folder})
    set(foreign "")
    if(PYPI_PYTHON)
      set(foreign --python-version ${PYPI_PYTHON} --platform manylinux_2_28_x86_64)
    endif()
    execute_process(
      COMMAND ${Python3_EXECUTABLE} -m pip install --quiet --disable-pip-version-check --no-deps --no-compile
              --only-binary=:all: ${foreign} --target ${folder} ${name}==${version}
      RESULT_VARIABLE failed ERROR_VARIABLE log)
    if(failed)
      message(FATAL_ERROR "Tessera needs ${name} ${version}: pip could not install it into ${folder}.\n${log}\n"
                          "Install it yourself, or set TESSERA_DEPS_DIR to a folder that holds ${name}-${version}.")
    endif()
    file(TOUCH ${folder}/.complete)
  endif()
  set(${var} ${folder} PARENT_SCOPE)
endfunction()
