#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace tessera {

/// Element types of tiles and tensors. Index arithmetic is i64; comparisons give boolean.
enum class DType : std::uint8_t { boolean, i32, i64, f16, bf16, f32 };

inline constexpr DType boolean = DType::boolean, i32 = DType::i32, i64 = DType::i64, f16 = DType::f16,
                       bf16 = DType::bf16, f32 = DType::f32;

int size_of(DType dtype);  ///< bytes
bool is_float(DType dtype);
bool is_integer(DType dtype);                  ///< i32 or i64
std::string_view name_of(DType dtype);         ///< "bf16"
DType dtype_from_name(std::string_view name);  ///< throws UserError listing the names

/// `value` rounded to what `dtype` can hold (to nearest even for floats, as IEEE and CUDA's conversions do).
double round_to(DType dtype, double value);
/// `value` rounded to TF32, f32 with 10 explicit bits: to nearest, ties away from zero (PTX ISA,
/// cvt.rna.tf32).
float tf32_of(float value);
/// Whether rounding to `dtype` changes nothing: whole numbers within its range where it is an integer. Of i64
/// that is also 2^63: it stands for the greatest, 2^63 - 1, which no double is.
bool holds(DType dtype, double value);
/// The integer that a double stands for which i64 holds.
std::int64_t integer_of(double value);

/// The bits of `value`, rounded, in memory, and back; for f16, bf16, f32, i32, i64 and boolean. Throws
/// UserError that names the value where the dtype does not hold an integer, or no double stands for the
/// i64 in memory.
void store_element(DType dtype, void* memory, double value);
double load_element(DType dtype, const void* memory);

}  // namespace tessera
