# Installs the build into a prefix and moves it, so that every test sees a package that was moved.
file(REMOVE_RECURSE ${folder}/first ${folder}/prefix)
execute_process(COMMAND ${CMAKE_COMMAND} --install ${build} --prefix ${folder}/first OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
file(RENAME ${folder}/first ${folder}/prefix)
