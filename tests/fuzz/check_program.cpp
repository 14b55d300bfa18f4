#include "tests/fuzz/check_program.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

#include "tests/fuzz/random_program.h"
#include "tests/fuzz/random_setting.h"
#include "tests/fuzz/renamed.h"
#include "tests/support/emulate.h"
#include "tile_core/base/error.h"
#include "tile_core/codegen/cuda.h"
#include "tile_core/ir/operands.h"
#include "tile_core/ir/parse.h"
#include "tile_core/ir/print.h"
#include "tile_core/runtime/compile.h"

namespace tessera::fuzz {
namespace {

using Values = std::vector<std::vector<double>>;

/// Sums in another order: of what is cast to 16 bits anywhere, to within roundings of those.
double tolerance_of(const Program& program) {
  bool narrow = false;
  for_each_inst(program.body, [&](const Inst& inst) {
    if (!std::holds_alternative<Cast>(inst.op)) return;
    const DType dtype = program.type(inst.result()).dtype;
    narrow = narrow || dtype == f16 || dtype == bf16;
  });
  return narrow ? 0x1p-5 : 0x1p-17;
}

bool has_dots_of_two_dtypes(const Program& program) {
  bool found = false;
  for_each_inst(program.body, [&](const Inst& inst) {
    const Dot* dot = std::get_if<Dot>(&inst.op);
    found = found || (dot != nullptr && program.type(dot->a).dtype != program.type(dot->b).dtype);
  });
  return found;
}

/// What passes.h says of a pass.
bool reorders(std::string_view pass) {
  return pass == "simplify" || pass == "lower_tiles";
}

/// What an error says without what differs from program to program: its first line without numbers and types.
std::string kind_of(std::string_view error) {
  std::string kind;
  for (char letter : error.substr(0, error.find_first_of("\n[<"))) {
    if (letter < '0' || letter > '9') kind += letter;
  }
  return kind;
}

/// Words of errors that a legal program may end with under any schedule, and what they count as.
constexpr std::pair<std::string_view, const char*> kRefusals[] = {
    {"shared memory", "too large for shared memory"},
    {"between layouts", "tiles that change layouts in roles"},
    {"threads hold parts", "tiles too large for a thread"},
    {"threads copy parts", "tiles too large for a thread"},
    {"dots fit the registers", "sums too large for a thread"}};

/// One program on its way through the passes and beyond.
class ProgramCheck {
 public:
  ProgramCheck(RandomProgram program, test::Setting setting, std::vector<test::Call> calls,
               const Lowering& lowering, Counts& counts)
      : program_(std::move(program)),
        setting_(std::move(setting)),
        calls_(std::move(calls)),
        lowering_(lowering),
        counts_(counts) {}

  std::optional<Failure> run(bool emulated, bool compiled) {
    for (const test::Call& call : calls_) {
      call_ = &call;
      step_ = "interpreter of the traced program";
      try {
        if (!lowered_under_some_schedule()) continue;
        count_what_was_reached();
        renamed();
        if (emulated) emulate();
        if (compiled) compile();
      } catch (const Failure& failure) {
        return failure;
      } catch (const std::exception& error) {
        return failure_of(kind_of(error.what()), error.what());
      }
    }
    return std::nullopt;
  }

 private:
  Failure failure_of(std::string kind, std::string details) const {
    std::string sizes, scalars;
    for (const auto& [name, size] : call_->dims) sizes += fmt::format(" {}={}", name, size);
    for (const auto& [name, value] : call_->scalars) scalars += fmt::format(" {}={}", name, value);
    std::string text = fmt::format("setting: {}\nsizes:{}\nscalars:{}\ninputs: seed {} mean {}{}\n{}",
                                   to_text(setting_), sizes, scalars, call_->seed, call_->mean,
                                   call_->alternating ? " alternating" : "", to_text(program_.program));
    return {std::move(kind), std::move(details), std::move(text)};
  }

  PassContext context(const Schedule& schedule) const {
    return {test::facts_of(program_.program, *call_, setting_), schedule, setting_.target};
  }

  /// Takes the fields back that the program cannot have, one after the other.
  bool lowered_under_some_schedule() {
    const std::initializer_list<void (*)(Schedule&)> changes = {
        [](Schedule&) {},
        [](Schedule& s) { s.groups = Schedule::kAutomatic; },
        [](Schedule& s) { s.cluster = Schedule::kAutomatic; },
        [](Schedule& s) { s.share = Share::automatic; },
        [](Schedule& s) { s = {}; },
    };
    return std::ranges::any_of(changes, [&](void (*change)(Schedule&)) {
      change(setting_.schedule);
      if (lowered(setting_.schedule)) return true;
      ++counts_["refused schedules"];
      return false;
    });
  }

  /// False where the program cannot have the schedule, which is said in an error.
  bool lowered(const Schedule& schedule) {
    parses_back(program_.program);
    Values before = test::outputs(program_.program, *call_);
    try {
      ready_ = lowering_(program_.program, context(schedule), [&](const Pass& pass, const Program& after) {
        step_ = pass.name;
        parses_back(after);
        const bool reordered = reorders(pass.name) || test::accumulates(program_.program);
        before = same_values(std::move(before), after, reordered);
      });
      return true;
    } catch (const UserError& error) {
      const std::string_view text = error.what();
      for (const auto& [words, count] : kRefusals) {
        if (text.find(words) == std::string_view::npos) continue;
        ++counts_[count];
        return false;
      }
      if (schedule == Schedule()) throw failure_of("refused: " + step_, error.what());
      return false;
    }
  }

  void parses_back(const Program& program) const {
    const std::string text = to_text(program);
    const std::string again = to_text(parse(text));
    if (again != text) throw failure_of("printed form: " + step_, again);
  }

  /// The values after the pass, which are those before.
  Values same_values(Values before, const Program& after, bool within_tolerance) const {
    Values last;
    for (const InterpretOptions& options : test::schedules(after)) {
      Values values = test::outputs(after, *call_, options);
      for (std::size_t i = 0; i < values.size(); ++i) {
        const double tolerance = within_tolerance ? tolerance_of(program_.program) : 0;
        const auto same = test::same_values(after.tensors[i].name, before[i], values[i], tolerance, kFloor);
        if (!same) throw failure_of("values: " + step_, same.message());
      }
      if (last.empty()) last = std::move(values);
    }
    return last;
  }

  void count_what_was_reached() {
    ++counts_["calls lowered"];
    if (has_roles(ready_)) {
      ++counts_["with roles"];
      if (!ready_.launch.cluster.alone()) ++counts_["with clusters"];
      const Schedule& s = setting_.schedule;
      if (s.share == Share::turns) ++counts_["with turns"];
      if (s.share == Share::alternate) ++counts_["with alternate groups"];
    }
    if (test::accumulates(ready_)) ++counts_["with sums of tiles"];
    if (has_dots_of_two_dtypes(program_.program)) ++counts_["with dots of two dtypes"];
    if (ready_.launch.persistent) ++counts_["with a persistent grid"];
    if (ready_.launch.counter) ++counts_["with a tile counter"];
    if (schedule_is_random()) ++counts_["with a random schedule"];
  }
  bool schedule_is_random() const { return setting_.schedule != Schedule(); }

  void renamed() {
    step_ = "renaming";
    const Renaming renaming(program_.program);
    const PassContext c = context(setting_.schedule);
    const std::string other =
        emit_cuda(lower(renaming.program(), c), c.facts, setting_.schedule, Prelude::device).text;
    if (renaming.undone(other) != emit_cuda(ready_, c.facts, setting_.schedule, Prelude::device).text)
      throw failure_of("renaming", "the CUDA text of the renamed program is another");
  }

  void emulate() {
    step_ = "emulation";
    ++counts_["emulated"];
    const auto same =
        test::emulates_lowered(ready_, *call_, setting_, tolerance_of(program_.program), kFloor);
    test::remove_libraries();
    if (!same) throw failure_of("emulation", same.message());
  }

  void compile() {
    step_ = "compile";
    ++counts_["compiled"];
    const PassContext c = context(setting_.schedule);
    const Cubin cubin = tessera::compile(emit_cuda(ready_, c.facts, setting_.schedule), setting_.target);
    for (const std::string& complaint : cubin.complaints()) {
      ++counts_[complaint.find("C75") != std::string::npos ? "cubins with serialised dots"
                                                           : "cubins with other complaints"];
    }
  }

  static constexpr double kFloor = 4;  ///< sums of numbers of this size may cancel

  RandomProgram program_;
  test::Setting setting_;
  std::vector<test::Call> calls_;
  const Lowering& lowering_;
  Counts& counts_;
  const test::Call* call_ = nullptr;
  std::string step_;
  Program ready_;
};

}  // namespace

std::optional<Failure> check_program(Choices& choices, const ProgramDepth& depth, Counts& counts) {
  const bool emulated = choices.chance(depth.emulated), compiled = choices.chance(depth.compiled);
  RandomProgram program;
  try {
    program = random_program(choices);
  } catch (const std::exception& error) {
    return Failure{"the language refuses the program", error.what(), ""};
  }
  test::Setting setting = random_setting(choices, program.wide);
  std::vector<test::Call> calls = {random_call(choices, program.program, program.wide)};
  if (choices.chance(60))
    calls.push_back(random_call(choices, program.program, program.wide && choices.chance(70)));
  ++counts[program.wide ? "programs for wgmma" : "other programs"];
  return ProgramCheck(std::move(program), std::move(setting), std::move(calls), depth.lowering, counts)
      .run(emulated, compiled);
}

}  // namespace tessera::fuzz
