#pragma once
#include <fmt/format.h>
#include <string>

#include "tests/support/programs.h"
#include "tile_core/ir/parse.h"
#include "tile_core/ir/verify.h"
#include "tile_core/passes/passes.h"

namespace tessera::test {

/// A hand-made program, its shared memory planned.
inline Program planned(std::string_view name) {
  Program planned = plan_shared_memory(program(name), {{}, {}, Target::named("sm_90a")});
  planned.stage = Stage::ready;
  verify(planned);
  return planned;
}

/// c[m, n] = a[m, k] * b[n, k]: one block, one tile. Axes in the order of a `major` operand stand as columns.
struct DotProgram {
  const char* name;
  const char* dtype = "bf16";
  int m = 64;
  int n = 64;
  int k = 64;
  int swizzle_a = 128;
  bool major_a = false;
  int swizzle_b = 128;
  bool major_b = false;
  bool registers = false;  ///< a is read to registers first
  int swizzle_c = 0;       ///< 0: c is f32 and stored by threads, else 16-bit and copied out
  bool major_c = false;
};
inline void PrintTo(const DotProgram& p, std::ostream* out) {
  *out << p.name;
}

/// "registers<...>" of fragments of rows x columns.
inline std::string fragments(const char* rows, int row_count, const char* columns, int column_count) {
  std::string more = column_count > 8 ? fmt::format(", reg {}:{}x8", columns, column_count / 8) : "";
  if (row_count > 64) more += fmt::format(", reg {}:{}x64", rows, row_count / 64);
  return fmt::format("registers<reg {0}:2x1, reg {1}:2x8{2}, lane {0}:4x2, lane {1}:8x1, warp {1}:4x16>",
                     columns, rows, more);
}

/// Its text at Stage::ready.
inline std::string to_text(const DotProgram& p) {
  auto pair = [](const char* a, const char* b, bool swapped) {
    return swapped ? fmt::format("{}, {}", b, a) : fmt::format("{}, {}", a, b);
  };
  auto at = [&](const char* a, const char* b, bool swapped) {
    return pair(fmt::format("{} at %3", a).c_str(), fmt::format("{} at %3", b).c_str(), swapped);
  };
  int bytes_a = p.m * p.k * 2;
  int bytes_b = p.n * p.k * 2;
  int bytes_c = p.swizzle_c > 0 ? p.m * p.n * 2 : 0;
  auto up = [](int bytes) { return (bytes + 1023) / 1024 * 1024; };
  int offset_c = up(bytes_a) + up(bytes_b);
  int end = offset_c + up(bytes_c);
  std::string mn = fragments("m", p.m, "n", p.n);
  std::string mk = fragments("m", p.m, "k", p.k);
  std::string text = fmt::format(
      "program dots stage ready warps 8 shared {} {{\n  dim M\n  dim N\n  dim K\n  axis m:{} all M\n  axis "
      "n:{} all "
      "N\n  axis k:{} all K\n",
      end + 16, p.m, p.n, p.k);
  text += fmt::format("  in a: {}({})\n  in b: {}({})\n  out c: {}({})\n", p.dtype, pair("M", "K", p.major_a),
                      p.dtype, pair("N", "K", p.major_b), p.swizzle_c > 0 ? p.dtype : "f32",
                      pair("M", "N", p.major_c));
  text += fmt::format("  %0: {}[m:{}, k:{}] x 1 = channel order ({}) swizzle {} offset 0 barriers {}\n",
                      p.dtype, p.m, p.k, pair("m", "k", p.major_a), p.swizzle_a, end);
  text += fmt::format("  %1: {}[n:{}, k:{}] x 1 = channel order ({}) swizzle {} with %0 offset {}\n", p.dtype,
                      p.n, p.k, pair("n", "k", p.major_b), p.swizzle_b, up(bytes_a));
  if (p.swizzle_c > 0)
    text += fmt::format("  %2: {}[m:{}, n:{}] x 1 = channel order ({}) swizzle {} offset {}\n", p.dtype, p.m,
                        p.n, pair("m", "n", p.major_c), p.swizzle_c, offset_c);
  text += fmt::format(
      "  %3: i64 = constant 0\n  roles {{\n    role warps 4 elected {{\n      acquire %0\n      copy_bulk "
      "a({}) to "
      "%0\n      copy_bulk b({}) to %1\n      commit %0\n    }}\n    role warps 4 {{\n      wait %0\n",
      at("m", "k", p.major_a), at("n", "k", p.major_b));
  if (p.registers)
    text += fmt::format("      %4: {}[m:{}, k:{}] {} = read_shared %0\n", p.dtype, p.m, p.k, mk);
  text += fmt::format(
      "      fence_dots\n      %5: f32[m:{0}, n:{1}] pending {2} = issue_dot<k> {3}, %1\n      commit_dots\n"
      "      %6: f32[m:{0}, n:{1}] {2} = wait_dots 0 %5\n      release %0\n",
      p.m, p.n, mn, p.registers ? "%4" : "%0");
  if (p.swizzle_c > 0) {
    text += fmt::format(
        "      %7: {}[m:{}, n:{}] {} = cast %6\n      write_shared %2, %7\n      fence_shared\n      "
        "barrier\n"
        "      copy_out %2 to c({})\n      commit_stores\n      wait_stores 0\n",
        p.dtype, p.m, p.n, mn, at("m", "n", p.major_c));
  } else {
    text += fmt::format("      store c({}), %6\n", at("m", "n", p.major_c));
  }
  return text + "    }\n  }\n}\n";
}

inline constexpr DotProgram kDotPrograms[] = {
    {.name = "smallest", .n = 8, .k = 16, .swizzle_a = 32, .swizzle_b = 32},
    {.name = "rows_of_128_bytes", .dtype = "f16", .n = 32, .k = 128},
    {.name = "rows_of_64_bytes", .n = 24, .k = 96, .swizzle_a = 64, .swizzle_b = 64},
    {.name = "rows_of_32_bytes", .n = 40, .k = 48, .swizzle_a = 32, .swizzle_b = 32},
    {.name = "two_blocks_of_rows", .m = 128, .n = 48, .k = 32, .swizzle_a = 64, .swizzle_b = 64},
    {.name = "columns_of_b", .n = 128, .k = 32, .swizzle_a = 64, .major_b = true},
    {.name = "columns_of_b_in_64_bytes", .n = 96, .k = 32, .swizzle_a = 64, .swizzle_b = 64, .major_b = true},
    {.name = "columns_of_a", .dtype = "f16", .m = 128, .n = 16, .k = 32, .major_a = true, .swizzle_b = 64},
    {.name = "columns_of_both",
     .m = 128,
     .n = 32,
     .k = 48,
     .swizzle_a = 32,
     .major_a = true,
     .swizzle_b = 32,
     .major_b = true},
    {.name = "registers", .dtype = "f16", .n = 32, .registers = true},
    {.name = "registers_of_columns",
     .m = 128,
     .n = 16,
     .k = 48,
     .swizzle_a = 64,
     .major_a = true,
     .swizzle_b = 32,
     .registers = true},
    {.name = "registers_of_few", .n = 64, .k = 16, .swizzle_a = 32, .major_b = true, .registers = true},
    {.name = "copied_out",
     .dtype = "f16",
     .n = 64,
     .k = 16,
     .swizzle_a = 32,
     .swizzle_b = 32,
     .swizzle_c = 128},
    {.name = "copied_out_in_32_bytes",
     .m = 128,
     .n = 48,
     .k = 16,
     .swizzle_a = 32,
     .swizzle_b = 32,
     .swizzle_c = 32},
    {.name = "copied_out_in_64_bytes", .n = 96, .k = 16, .swizzle_a = 32, .swizzle_b = 32, .swizzle_c = 64},
    {.name = "copied_out_as_columns",
     .m = 128,
     .n = 24,
     .k = 16,
     .swizzle_a = 32,
     .swizzle_b = 32,
     .swizzle_c = 128,
     .major_c = true},
    {.name = "copied_out_as_columns_in_32_bytes",
     .n = 32,
     .k = 16,
     .swizzle_a = 32,
     .swizzle_b = 32,
     .swizzle_c = 32,
     .major_c = true},
};

}  // namespace tessera::test
