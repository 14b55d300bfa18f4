# Every library that Tessera uses: the installed one where find_package finds it, else a pinned PyPI wheel.
include(pypi)

# fmt: text. Header-only, so that the installed library needs nothing. It is the version whose headers torch brings, since
# files that include torch see those: two versions in one library break the one-definition rule.
tessera_pypi(fmt_folder cmeel-fmt 12.1.0)
add_library(fmt::fmt-header-only INTERFACE IMPORTED GLOBAL)
target_include_directories(fmt::fmt-header-only INTERFACE ${fmt_folder}/cmeel.prefix/include)
target_compile_definitions(fmt::fmt-header-only INTERFACE FMT_HEADER_ONLY=1)

# nlohmann_json: records, plans, results.
find_package(nlohmann_json 3.10 QUIET)
if(NOT TARGET nlohmann_json::nlohmann_json)
  tessera_pypi(json_folder nlohmann-json 3.12.0)
  add_library(nlohmann_json::nlohmann_json INTERFACE IMPORTED GLOBAL)
  target_include_directories(nlohmann_json::nlohmann_json INTERFACE ${json_folder}/nlohmann_json/include)
endif()

# Boost.Hash2: sha256 of the kernel cache. Headers only.
find_package(Boost 1.88 QUIET)
if(NOT TARGET Boost::headers)
  tessera_pypi(boost_folder cmeel-boost 1.90.0 PYTHON 3.11)
  add_library(Boost::headers INTERFACE IMPORTED GLOBAL)
  target_include_directories(Boost::headers SYSTEM INTERFACE ${boost_folder}/cmeel.prefix/include)
endif()

include(torch)
