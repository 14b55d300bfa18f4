# What the build installs itself comes from PyPI, once, into a per-user folder of dependencies.
find_package(Python3 3.10 QUIET COMPONENTS Interpreter)
if(NOT Python3_FOUND)
  message(FATAL_ERROR "Tessera's build needs Python 3.10 or newer with pip, to install the libraries it uses, and found none. "
                      "Install it (Debian, Ubuntu: apt install python3 python3-pip), or name one: -DPython3_EXECUTABLE=FILE.")
endif()

if(IS_ABSOLUTE "$ENV{XDG_CACHE_HOME}")  # what is empty or relative counts as unset (XDG Base Directory Specification)
  set(TESSERA_DEPS_DEFAULT $ENV{XDG_CACHE_HOME}/tessera-deps)
else()
  set(TESSERA_DEPS_DEFAULT $ENV{HOME}/.cache/tessera-deps)
endif()
set(TESSERA_DEPS_DIR ${TESSERA_DEPS_DEFAULT} CACHE PATH "Folder that keeps the dependencies the build installs")

# tessera_pip(WHAT FOLDER MEGABYTES ARGUMENT...): `pip install ARGUMENT...` into FOLDER, which takes MEGABYTES; where that
# fails the configuration ends and says why.
function(tessera_pip what folder megabytes)
  execute_process(COMMAND ${Python3_EXECUTABLE} -m pip --version RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
  if(failed)
    message(FATAL_ERROR "Tessera's build needs pip, to install ${what}, and ${Python3_EXECUTABLE} has none. Install it (Debian, "
                        "Ubuntu: apt install python3-pip), or name another Python: -DPython3_EXECUTABLE=FILE.")
  endif()
  execute_process(COMMAND ${Python3_EXECUTABLE} -c "import shutil; print(shutil.disk_usage('${TESSERA_DEPS_DIR}').free >> 20)"
                  OUTPUT_VARIABLE free OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(free LESS megabytes)
    message(FATAL_ERROR "Tessera's build installs ${what} into ${folder}, which takes ${megabytes} MB where ${free} MB are free. "
                        "Make room, or choose another folder: -DTESSERA_DEPS_DIR=FOLDER.")
  endif()
  message(STATUS "Installing ${what} from PyPI into ${folder}")
  # pip gathers everything in TMPDIR first: not in /tmp, which may be small.
  execute_process(
    COMMAND ${CMAKE_COMMAND} -E env TMPDIR=${TESSERA_DEPS_DIR} ${Python3_EXECUTABLE} -m pip install --quiet --disable-pip-version-check
            --no-compile --only-binary=:all: --target ${folder} ${ARGN}
    RESULT_VARIABLE failed ERROR_VARIABLE log)
  if(failed)
    message(FATAL_ERROR "Tessera's build needs ${what}, and pip could not install it into ${folder}:\n${log}"
                        "Is PyPI reached from here? Where it is not, copy ${TESSERA_DEPS_DIR} from a machine where it is.")
  endif()
endfunction()

# tessera_install_once(FOLDER COMMAND ARGUMENT...): calls the CMake command unless a call has come to its end before.
# Configurations that run at the same time wait for each other.
function(tessera_install_once folder command)
  if(EXISTS ${folder}/.complete)
    return()
  endif()
  execute_process(COMMAND ${CMAKE_COMMAND} -E make_directory ${TESSERA_DEPS_DIR} RESULT_VARIABLE failed ERROR_VARIABLE log)
  if(NOT failed)
    file(LOCK ${TESSERA_DEPS_DIR} DIRECTORY GUARD FUNCTION RESULT_VARIABLE failed)
    set(log "${failed}\n")
  endif()
  if(failed)
    message(FATAL_ERROR "Tessera's build installs what it uses into ${folder}, and ${TESSERA_DEPS_DIR} cannot be written:\n${log}"
                        "Choose a folder that can: -DTESSERA_DEPS_DIR=FOLDER.")
  endif()
  if(NOT EXISTS ${folder}/.complete)
    file(REMOVE_RECURSE ${folder})
    cmake_language(CALL ${command} ${ARGN})
    file(TOUCH ${folder}/.complete)
  endif()
endfunction()

# tessera_pypi(VAR NAME VERSION [PYTHON X.Y]): unpacks one pinned wheel, without its dependencies, and returns its folder in
# VAR. PYTHON names the Python that the wheel says it is for, where its content suits all.
function(tessera_pypi var name version)
  cmake_parse_arguments(PYPI "" "PYTHON" "" ${ARGN})
  set(folder ${TESSERA_DEPS_DIR}/${name}-${version})
  set(foreign "")
  if(PYPI_PYTHON)
    set(foreign --python-version ${PYPI_PYTHON} --platform manylinux_2_28_x86_64)
  endif()
  tessera_install_once(${folder} tessera_pip "${name} ${version}" ${folder} 500 --no-deps ${foreign} ${name}==${version})
  set(${var} ${folder} PARENT_SCOPE)
endfunction()
