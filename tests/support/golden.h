#pragma once
#include <gtest/gtest.h>
#include <string>
#include <string_view>

namespace tessera::test {

/// Compares a text with tests/golden/<path of the test without _test.cpp>/<name>.txt. TESSERA_UPDATE_GOLDEN=1
/// writes it.
::testing::AssertionResult matches_golden(std::string_view name, std::string_view text,
                                          const char* test_file);

/// The text of tests/<path>.
std::string read_text(const std::string& path);

}  // namespace tessera::test

#define EXPECT_GOLDEN(name, text) EXPECT_TRUE(::tessera::test::matches_golden(name, text, __FILE__))
