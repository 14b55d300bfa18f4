# What `cmake --install` lays down: libtessera.so, the `tessera` command, the public headers with the inner ones that they
# include, and the package file that find_package(Tessera) reads. Nothing in it names the build's folders: the prefix may move.
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

# The loader finds torch where this build found it, unless the process has one already; with TESSERA_RPATH_TORCH=OFF it must
# have, or LD_LIBRARY_PATH says where. One run path serves both trees, since the build's lib and bin lie as the prefix's do:
# CMake would pad another one with empty entries, which the loader reads as the current folder.
option(TESSERA_RPATH_TORCH "libtessera.so and tessera know the folder of the torch that they were built for" ON)
set(torch_libraries "")
if(TESSERA_RPATH_TORCH)
  set(torch_libraries ${TESSERA_TORCH_DIR}/lib ${TESSERA_CUDA_DIR}/lib)
endif()
set_target_properties(tessera PROPERTIES
  VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
  LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/${CMAKE_INSTALL_LIBDIR}
  BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "$ORIGIN;${torch_libraries}")
if(TARGET tessera_cli)
  set_target_properties(tessera_cli PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/${CMAKE_INSTALL_BINDIR}
    BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR};${torch_libraries}")
  install(TARGETS tessera_cli)
endif()

target_compile_features(tessera INTERFACE cxx_std_20)
install(TARGETS tessera EXPORT TesseraTargets INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/Tessera)
install(EXPORT TesseraTargets NAMESPACE tessera:: DESTINATION ${package})
configure_package_config_file(cmake/TesseraConfig.cmake.in ${PROJECT_BINARY_DIR}/TesseraConfig.cmake INSTALL_DESTINATION ${package})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/TesseraConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/TesseraConfig.cmake ${PROJECT_BINARY_DIR}/TesseraConfigVersion.cmake cmake/TesseraTorch.cmake
        DESTINATION ${package})

install(CODE "
  set(source ${PROJECT_SOURCE_DIR})
  set(staging ${PROJECT_BINARY_DIR}/headers)
  set(destination ${CMAKE_INSTALL_INCLUDEDIR})
  include(${CMAKE_CURRENT_LIST_DIR}/install_headers.cmake)")
