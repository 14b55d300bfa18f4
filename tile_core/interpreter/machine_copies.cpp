#include "tile_core/interpreter/machine.h"
#include "tile_core/interpreter/memory.h"

namespace tessera::interpreter {

void Machine::transfer_in(const Transfer& copy) {
  Elements elements;
  load(run_.tensors[index_of(copy.tensor)], copy.elements, elements);
  memory_.set(copy.place, elements);
}

void Machine::transfer_out(const Transfer& copy) {
  store(run_.tensors[index_of(copy.tensor)], copy.elements, memory_.get(copy.place),
        std::get<CopyOut>(copy.inst->op).accumulate);
}

void Machine::execute(Instance& by, const Inst& inst, const CopyIn& o) {
  Place place = memory_.place(o.to);
  Transfer copy{&inst, place, o.load.tensor, footprint(run_, o.load.tensor, o.load.subscripts, place.axes)};
  if (o.kind == CopyKind::bulk && passing_.passes(place.channel)) return passing_.copy(by, copy, o.multicast);
  if (!checked_) return transfer_in(copy);
  if (o.kind != CopyKind::async && o.kind != CopyKind::bulk) {
    write(by, inst, o.to, "write", by.act());
    return transfer_in(copy);
  }
  write(by, inst, o.to, "copy", {Agent::copies, by.number, by.copies.open_number()});
  lazy_ ? memory_.forget(place) : transfer_in(copy);
  by.copies.issue(std::move(copy));
}

void Machine::execute(Instance& by, const Inst&, const CommitCopies&) {
  by.copies.commit();
}

void Machine::execute(Instance& by, const Inst&, const WaitCopies& o) {
  by.copies.wait(o.pending, [&](const Transfer& copy) {
    if (lazy_) transfer_in(copy);
    memory_.landed(copy, by.act());
  });
}

void Machine::execute(Instance& by, const Inst& inst, const CopyOut& o) {
  Place place = read(by, inst, o.from, "store", {Agent::stores, by.number, by.stores.open_number()});
  Transfer copy{&inst, place, o.tensor, footprint(run_, o.tensor, o.subscripts, place.axes)};
  if (!lazy_) transfer_out(copy);
  if (checked_) by.stores.issue(std::move(copy));
}

void Machine::execute(Instance& by, const Inst&, const CommitStores&) {
  by.stores.commit();
}

void Machine::execute(Instance& by, const Inst&, const WaitStores& o) {
  by.stores.wait(o.pending, [&](const Transfer& copy) {
    if (lazy_) transfer_out(copy);
  });
  by.own.learn(Event{Agent::stores, by.number, by.stores.finished()});
}

}  // namespace tessera::interpreter
