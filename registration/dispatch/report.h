#pragma once
#include <fmt/format.h>
#include <string_view>

#include "tile_core/base/log.h"

namespace tessera::dispatch {

/// ATen runs a call of the operator for a reason that no plan gives: TESSERA_LOG=dispatch says each once.
template <typename... T>
void report_native(std::string_view op, fmt::format_string<T...> why, T&&... values) {
  if (!log::enabled(log::Topic::dispatch)) return;
  log::info_once(log::Topic::dispatch,
                 fmt::format("{}(): ATen runs: {}", op, fmt::format(why, std::forward<T>(values)...)));
}

}  // namespace tessera::dispatch
