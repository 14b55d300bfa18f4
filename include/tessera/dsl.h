#pragma once
/// What a kernel is written with: namespace tessera::dsl (Builder, Dim, Axis, In, Out, Tile, Var,
/// OnlineSoftmax, dot, where, exp, ...) and the dtypes tessera::{f16, bf16, f32, i64, boolean}.
#include "tile_core/dsl/builder.h"
#include "tile_core/dsl/math.h"
#include "tile_core/dsl/online_softmax.h"
