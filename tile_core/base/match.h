#pragma once
#include <type_traits>
#include <variant>

namespace tessera {

template <typename Operation>
struct operation_without_handler;  // never defined: its name in the compiler's error says which operation
                                   // lacks one

template <typename... Handlers>
struct Overloaded : Handlers... {
  using Handlers::operator()...;
};
template <typename... Handlers>
Overloaded(Handlers...) -> Overloaded<Handlers...>;

/// Calls the handler of the alternative that the variant holds. A missing handler does not compile:
/// the error names operation_without_handler<TheAlternative>.
template <typename Variant, typename... Handlers>
decltype(auto) match(Variant&& variant, Handlers&&... handlers) {
  auto all = Overloaded{std::forward<Handlers>(handlers)...};
  return std::visit(
      [&](auto&& alternative) -> decltype(auto) {
        using Alternative = decltype(alternative);
        if constexpr (std::is_invocable_v<decltype(all)&, Alternative>) {
          return all(std::forward<Alternative>(alternative));
        } else {
          return operation_without_handler<std::remove_cvref_t<Alternative>>{}.missing();
        }
      },
      std::forward<Variant>(variant));
}

}  // namespace tessera
