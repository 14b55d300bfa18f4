#include <algorithm>
#include <utility>

#include "tile_core/codegen/emitter.h"
#include "tile_core/ir/named_barriers.h"
#include "tile_core/ir/operands.h"

namespace tessera::codegen {
namespace {

constexpr int kRegisters = 65536;  // of a multiprocessor
constexpr int kMostRegisters = 255;

bool releases(const PassSlot& pass) {
  return pass.step == SlotStep::release || pass.step == SlotStep::skip;
}

}  // namespace

/// One thread stores, and speaks for the instance where its slots go back at once.
bool Emitter::needs_leader(const Role& role) const {
  if (role.elected) return false;
  if (holds<CopyOut, CommitStores, WaitStores>(role.body)) return true;
  return any_inst(role.body, [&](const Inst& inst) {
    const PassSlot* pass = std::get_if<PassSlot>(&inst.op);
    return pass != nullptr && releases(*pass) && protocols_.at(pass->slot.channel).blocks == 1 &&
           release_arrivals(p_, role, pass->slot.channel) == 1;
  });
}

/// Whether slots that a role's threads release are written by other blocks, too.
bool Emitter::releases_in_cluster(const Role& role) const {
  return !role.elected && any_inst(role.body, [&](const Inst& inst) {
    const PassSlot* pass = std::get_if<PassSlot>(&inst.op);
    return pass != nullptr && releases(*pass) && protocols_.at(pass->slot.channel).blocks > 1;
  });
}

/// What stands before the program: the numbers of threads, and of a program with roles its mbarriers.
void Emitter::begin(const std::string& rest) {
  bool roled = holds<Roles>(p_.body);
  std::string thread = roled ? "block_thread" : "thread";
  line("const int {} = thread_index();", thread);
  line("{}int lane = {} % 32;", roled ? "" : "const ", thread);
  append(roled ? "const int block_warp = uniform(block_thread / 32);" : "const int warp = thread / 32;");
  if (p_.launch.shared_bytes > 0) line("TESSERA_SHARED(shared);");
  if (p_.launch.shared_bytes > 0 && (roled || uses_mma(p_)))
    line("const unsigned base = shared_address(shared);");
  if (!maps_.empty() || !protocols_.empty()) {
    open("if (block_thread == 0)");
    for (std::size_t i = 0; i < maps_.size(); ++i) line("prefetch_map(&p.map_{});", i);
    for (const auto& [id, protocol] : protocols_) {
      int slots = p_.type(id).slots;
      int at = channel(id).barriers;
      open(fmt::format("for (int slot = 0; slot < {}; ++slot)", slots));
      line("mbarrier_init(base + {} + slot * 8, {});", at, std::max(1, protocol.commits));
      line("mbarrier_init(base + {} + slot * 8, {});", at + 8 * slots, std::max(1, protocol.releases));
      close();
    }
    line("fence_mbarriers();");
    close();
    append(clusters() ? "cluster_barrier();" : "barrier();");
  }
  text_ += rest;
}

void Emitter::emit_roles(const Roles& o) {
  int first_warp = 0;
  for (std::size_t i = 0; i < o.roles.size(); ++i) {
    const Role& role = o.roles[i];
    int warps = role.warps * role.instances;
    bool last = i + 1 == o.roles.size();
    std::string condition = last ? "" : fmt::format(" if (block_warp < {})", first_warp + warps);
    if (i > 0) --depth_;
    open(i == 0 ? (last ? "" : condition.substr(1)) : "} else" + condition);
    emit_role(role, first_warp);
    first_warp += warps;
  }
  close();
}

void Emitter::emit_role(const Role& role, int first_warp) {
  role_ = &role;
  std::string from = first_warp == 0 ? "block_warp" : fmt::format("(block_warp - {})", first_warp);
  if (role.instances > 1)
    line("const int instance = {} / {}, warp = {} % {};", from, role.warps, from, role.warps);
  else
    line("const int warp = {};", from);
  if (!role.elected) line("const int thread = warp * 32 + lane;");
  emit_registers(role);
  if (role.instance != ValueId::none)
    line("const int64 {} = {};", declare(role.instance), role.instances > 1 ? "instance" : "0");
  if (needs_leader(role)) line("const bool leader = warp == 0 && elect();");
  if (releases_in_cluster(role))
    line("const unsigned base_of_lane = lane < {} ? address_in_block(base, lane) : 0;",
         p_.launch.cluster.blocks);
  const RoleBarriers barriers = barriers_of(role);
  own_barrier_ = std::exchange(next_barrier_, next_barrier_ + barriers.all());
  first_turn_ = own_barrier_ + barriers.meet;
  if (barriers.turn > 0) {
    line("if (instance == {}) arrive<{}, {}, {}>(0);", role.instances - 1, first_turn_, role.instances,
         2 * threads());
  }
  if (role.elected) open("if (warp == 0 && elect())");
  block(role.body);
  if (role.elected) close();
  if (clusters()) line("cluster_barrier();");  // others may still copy to, or arrive in, this block
  role_ = nullptr;
}

/// A thread starts with its share of the registers.
void Emitter::emit_registers(const Role& role) {
  int blocks = std::max(1, schedule_.blocks);
  int share = std::min(kMostRegisters, kRegisters / (32 * p_.launch.warps * blocks)) / 8 * 8;
  if (role.registers == 0 || role.registers == share) return;
  line("{}_registers<{}>();", role.registers < share ? "give" : "take", role.registers);
}

void Emitter::emit_barrier() {
  if (role_ == nullptr) return line("barrier();");
  line("meet<{}, {}, {}>({});", own_barrier_, role_->instances, threads(),
       role_->instances > 1 ? "instance" : "0");
}

void Emitter::emit_turn(bool take) {
  int instances = role_->instances;
  std::string numbers = fmt::format("{}, {}, {}", first_turn_, instances, 2 * threads());
  if (take) return line("meet<{}>(instance);", numbers);
  line("arrive<{}>(instance + 1 == {} ? 0 : instance + 1);", numbers, instances);
}

}  // namespace tessera::codegen
