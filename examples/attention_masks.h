#pragma once
#include "tessera/dsl.h"

/// Attention, and what one more line makes of it.
namespace examples {

using namespace tessera;
using namespace tessera::dsl;

/// Where the scores of query rows i and keys j of one head are made.
struct Step {
  Builder& p;
  Dim heads;
  Tile head;
  Axis i, j;
};
using Line = Tile (*)(const Step& at, const Tile& scores);

/// output[i,:] = softmax_j(line(query[i,:] . key[j,:] / sqrt(D))) @ value[j,:], in one pass over j; Dao,
/// arXiv 2307.08691
inline Program attention(DType dtype, Line line) {
  Builder p("attention");
  Dim B = p.dim("B"), H = p.dim("H"), I = p.dim("I"), J = p.dim("J"), D = p.dim("D");
  In query = p.in("query", dtype, {B, H, I, D}), key = p.in("key", dtype, {B, H, J, D}),
     value = p.in("value", dtype, {B, H, J, D});
  Out output = p.out("output", dtype, {B, H, I, D});

  Tile batch = p.grid(B), head = p.grid(H);
  Axis i = p.grid(I, 64), d = p.all(D, 64), e = p.all(D, 64);
  Tile rows = query(batch, head, i, d), scale = rsqrt(cast(f32, D));
  OnlineSoftmax row(p, {i});
  Var sum = p.zeros(f32, {i, e});
  for (Axis j : p.pipelined(J, 64)) {
    Tile scores = line({p, H, head, i, j}, dot(rows, key(batch, head, j, d), d) * scale);
    Tile weights = row.weights(scores, j);
    sum = rescale(sum, row.keep()) + dot(cast(dtype, weights), value(batch, head, j, e), j);
  }
  output(batch, head, i, e) = cast(dtype, sum * row.inverse_total());
  return p.finish();
}

/// Every row sees itself and the window - 1 keys before it; tiles of other keys are not visited. Beltagy et
/// al., arXiv 2004.05150
inline Tile sliding_window(const Step& at, const Tile& scores) {
  Tile distance = at.i.index() - at.j.index();
  return mask(scores, distance >= 0 && distance < at.p.scalar("window", i64), at.j);
}

/// Keys weigh less with their distance, by a slope for every head. Press et al., arXiv 2108.12409
inline Tile alibi(const Step& at, const Tile& scores) {
  return scores - at.p.in("slopes", f32, {at.heads})(at.head) * cast(f32, abs(at.i.index() - at.j.index()));
}

/// Scores stay between -cap and cap. Gemma 2, arXiv 2408.00118
inline Tile soft_cap(const Step& at, const Tile& scores) {
  Tile cap = at.p.scalar("cap", f32);
  return cap * tanh(scores / cap);
}

}  // namespace examples
