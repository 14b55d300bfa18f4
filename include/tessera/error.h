#pragma once
/// tessera::UserError, a std::runtime_error: what policy, explain, plans, warmup, swap and register_operator
/// throw where the caller's argument, file or setting is wrong. The operators themselves throw c10::Error, as
/// ATen's do.
#include "tile_core/base/user_error.h"
