#pragma once
#include <cstdint>
#include <memory>
#include <type_traits>

#include "tile_core/dsl/tracer.h"

/// Tiles and their arithmetic. Operands align by axis name: there are no transposes and no broadcasts to
/// write. Arithmetic on f16 and bf16 gives f32, as ATen's does inside a kernel; `cast` rounds.
namespace tessera::dsl {

/// A value of the program: elements of one dtype over named axes, a scalar where it has none. A Tile cannot
/// be assigned to, so that an update lost in a loop does not compile: use Var.
class Tile {
 public:
  Tile(Tracer* tracer, ValueId id) : tracer_(tracer), id_(id) {}
  Tile(const Tile&) = default;
  Tile& operator=(const Tile&) = delete;

  Tracer& tracer() const { return *tracer_; }
  ValueId id() const { return id_; }
  const Type& type() const { return tracer_->program.type(id_); }

 private:
  Tracer* tracer_;
  ValueId id_;
};

/// A run-time size; as an operand it is an i64 scalar.
class Dim {
 public:
  Dim(Tracer* tracer, DimId id) : tracer_(tracer), id_(id) {}
  Tracer& tracer() const { return *tracer_; }
  DimId id() const { return id_; }

 private:
  Tracer* tracer_;
  DimId id_;
};

/// A number as written, held as a double. Throws UserError where an integer has more digits than that holds.
class Number {
 public:
  template <typename Value>
  requires std::is_arithmetic_v<Value> Number(Value value, Loc loc = Loc::here())
      : value_(static_cast<double>(value)) {
    if constexpr (std::is_integral_v<Value>) {
      auto bits = static_cast<std::uint64_t>(value);
      bool negative = value_ < 0;
      check_digits(negative ? ~bits + 1 : bits, negative, loc);
    }
  }
  double value() const { return value_; }

 private:
  static void check_digits(std::uint64_t magnitude, bool negative, Loc loc);

  double value_;
};

class Var;

/// An operand as written: a tile, a variable, a size or a number, and where. A number takes the other
/// operand's dtype.
class Operand {
 public:
  Operand(const Tile& tile, Loc loc = Loc::here()) : tracer_(&tile.tracer()), id_(tile.id()), loc_(loc) {}
  Operand(const Var& variable, Loc loc = Loc::here());
  Operand(const Dim& dim, Loc loc = Loc::here());
  template <typename Value>
  requires std::is_arithmetic_v<Value> Operand(Value number, Loc loc = Loc::here())
      : number_(Number(number, loc).value()), loc_(loc) {}

  bool is_number() const { return tracer_ == nullptr; }
  double number() const { return number_; }
  Tracer* tracer() const { return tracer_; }
  Loc loc() const { return loc_; }
  /// The value, a number as a literal of `dtype`.
  ValueId in(Tracer& tracer, DType dtype) const {
    return is_number() ? tracer.constant(number_, {.dtype = dtype}, loc_) : id_;
  }
  ValueId id() const { return id_; }
  const Type& type() const { return tracer_->program.type(id_); }

 private:
  Tracer* tracer_ = nullptr;
  ValueId id_ = ValueId::none;
  double number_ = 0;
  Loc loc_;
};

/// A tile that changes: assignments inside a loop carry over to the next iteration and out of the loop.
class Var {
 public:
  Var(const Tile& initial);
  Var(const Var&) = delete;
  // NOLINTNEXTLINE(bugprone-unhandled-self-assignment): assigning a variable's own value changes nothing
  Var& operator=(const Var& other) { return *this = Operand(other); }
  Var& operator=(const Operand& value);
  Var& operator=(const Tile& value) { return *this = Operand(value, value.tracer().loc_of(value.id())); }
  Var& operator+=(const Operand& value);

  Tracer& tracer() const { return *tracer_; }
  ValueId id(Loc loc = Loc::here()) const { return tracer_->variable(index_, loc); }

 private:
  Tracer* tracer_;
  int index_;
};

Tile unary(UnaryFn fn, const Operand& a);
Tile binary(BinaryFn fn, const Operand& a, const Operand& b);

// Parameters are Operands, whose conversion records the place of the expression.
inline Tile operator+(const Operand& a, const Operand& b) {
  return binary(BinaryFn::add, a, b);
}
inline Tile operator-(const Operand& a, const Operand& b) {
  return binary(BinaryFn::sub, a, b);
}
inline Tile operator*(const Operand& a, const Operand& b) {
  return binary(BinaryFn::mul, a, b);
}
/// Of integers the quotient rounded down, -7 / 2 = -4, and what is left of it: -7 % 2 = 1, of the divisor's
/// sign.
inline Tile operator/(const Operand& a, const Operand& b) {
  return binary(BinaryFn::div, a, b);
}
inline Tile operator%(const Operand& a, const Operand& b) {
  return binary(BinaryFn::mod, a, b);
}
inline Tile operator<(const Operand& a, const Operand& b) {
  return binary(BinaryFn::lt, a, b);
}
inline Tile operator<=(const Operand& a, const Operand& b) {
  return binary(BinaryFn::le, a, b);
}
inline Tile operator>(const Operand& a, const Operand& b) {
  return binary(BinaryFn::lt, b, a);
}
inline Tile operator>=(const Operand& a, const Operand& b) {
  return binary(BinaryFn::le, b, a);
}
inline Tile operator==(const Operand& a, const Operand& b) {
  return binary(BinaryFn::eq, a, b);
}
inline Tile operator!=(const Operand& a, const Operand& b) {
  return binary(BinaryFn::ne, a, b);
}
inline Tile operator&&(const Operand& a, const Operand& b) {
  return binary(BinaryFn::logical_and, a, b);
}
inline Tile operator||(const Operand& a, const Operand& b) {
  return binary(BinaryFn::logical_or, a, b);
}
inline Tile operator-(const Operand& a) {
  return unary(UnaryFn::neg, a);
}
inline Tile operator!(const Operand& a) {
  return unary(UnaryFn::logical_not, a);
}

}  // namespace tessera::dsl
