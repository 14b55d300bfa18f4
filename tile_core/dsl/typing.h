#pragma once
#include <string>
#include <vector>

#include "tile_core/dsl/tile.h"

namespace tessera::dsl {

/// Throws UserError where these are two programs.
void check_same_program(const Tracer& a, const Tracer& b, Loc loc);

/// The tracer of an expression's operands; throws where all are plain numbers or two programs meet.
Tracer& tracer_of(std::initializer_list<const Operand*> operands);

/// The axes of an elementwise result. Throws UserError where axes meet that no operand has together, unless
/// all operands are index expressions: write outer(x, y) for that.
std::vector<AxisId> joined_axes(Tracer& tracer, const char* operation, const std::vector<Operand>& operands);

/// The dtype that arithmetic on these operands works in; throws UserError where they do not go together.
DType joined_dtype(Tracer& tracer, const char* operation, const Operand& a, const Operand& b);

/// The operand as a value of `dtype`, cast where it has another.
ValueId as(Tracer& tracer, const Operand& operand, DType dtype);

/// "first: bf16[m:128, k:64]  second: 2"
std::string describe(const std::vector<Operand>& operands);

}  // namespace tessera::dsl
