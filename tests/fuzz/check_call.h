#pragma once
#include "tests/fuzz/shrink.h"

namespace tessera::fuzz {

/// One random call of an operator on "cpu", where the interpreter runs it, or "cuda": under policy tile, on a
/// device sometimes under auto; sometimes torch allows TF32. Results and, of some calls, gradients are at
/// most ATen's error and the accuracy contract's slack away from float64, or bitwise ATen's where they are
/// exact; what ATen refuses is an error of ours, which begins with the operator's name.
std::optional<Failure> check_call(Choices& choices, const std::string& device, Counts& counts);

/// The same under the policy and the precision that are set, for several threads at a time.
std::optional<Failure> check_call_as_it_is(Choices& choices, const std::string& device, Counts& counts);

/// The command that makes a call of `check_call_as_it_is` again by itself, under policy tile without TF32.
std::string command_of_call(const Choices& choices, const std::string& device);

}  // namespace tessera::fuzz
