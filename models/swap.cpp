#include "tessera/swap.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <memory>
#include <optional>
#include <span>
#include <torch/csrc/jit/ir/constants.h>
#include <torch/csrc/jit/ir/ir.h>
#include <torch/csrc/jit/passes/constant_propagation.h>
#include <torch/csrc/jit/passes/inliner.h>
#include <unordered_map>
#include <utility>

#include "models/graph_ranks.h"

namespace tessera {
namespace {

namespace jit = torch::jit;
namespace aten = c10::aten;

/// An argument that ours takes in one rank only, and ATen's in others too.
struct Rank {
  std::size_t input;
  const char* name;
  std::size_t rank;
};

/// An ATen operator and ours, which has the same arguments in the same order.
struct Rule {
  c10::Symbol kind;
  const char* schema;
  const char* replacement;
  std::span<const Rank> ranks;
};

constexpr Rank kRanksOfLinear[] = {{1, "weight", 2}},
               kRanksOfAttention[] = {{0, "query", 4}, {1, "key", 4}, {2, "value", 4}};

constexpr Rule kRules[] = {
    {aten::linear, "aten::linear(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor",
     "tessera::linear", kRanksOfLinear},
    {aten::softmax,
     "aten::softmax.int(Tensor self, int dim, ScalarType? dtype=None) -> Tensor",
     "tessera::softmax",
     {}},
    {aten::scaled_dot_product_attention,
     "aten::scaled_dot_product_attention(Tensor query, Tensor key, Tensor value, Tensor? attn_mask=None, "
     "float dropout_p=0., bool is_causal=False, *, float? scale=None, bool enable_gqa=False) -> Tensor",
     "tessera::scaled_dot_product_attention", kRanksOfAttention}};
constexpr const Rule& kLinear = kRules[0];

constexpr const char* kGelu = "aten::gelu(Tensor self, *, str approximate=\"none\") -> Tensor";
constexpr const char* kOtherOverload = "this overload has no counterpart";
constexpr const char* kFusedReplacement = "tessera::linear_gelu";

const Rule* rule_for(const jit::Node* node) {
  for (const Rule& rule : kRules)
    if (node->kind() == rule.kind) return &rule;
  return nullptr;
}

/// All nodes in program order: a node, then those of its blocks and of the graph that it forks, which
/// Inline() does not enter.
void collect(jit::Block* block, std::vector<jit::Node*>& nodes, GraphRanks& ranks) {
  for (jit::Node* node : block->nodes()) {
    nodes.push_back(node);
    for (jit::Block* inner : node->blocks()) collect(inner, nodes, ranks);
    if (!node->hasAttribute(c10::attr::Subgraph)) continue;
    jit::Inline(*node->g(c10::attr::Subgraph));
    ranks.enter(node);
    collect(node->g(c10::attr::Subgraph)->block(), nodes, ranks);
  }
}

/// "encoder.linear1 (linear.py:134)": the submodules whose calls were inlined, and the source line.
std::string place_of(const jit::Node* node) {
  std::string path;
  if (auto stack = node->callstack()) {
    for (const jit::InlinedCallStackEntry& call : (*stack)->vec()) {
      const auto& instance = std::get<jit::kModuleInstanceInfo>(call);
      if (!instance || instance->instance_name() == "SELF") continue;
      if (!path.empty()) path += '.';
      path += instance->instance_name();
    }
  }
  auto position = node->sourceRange().file_line_col();
  if (!position) return path;
  const auto& [file, line, column] = *position;
  std::string source = fmt::format("{}:{}", std::filesystem::path(file).filename().string(), line);
  return path.empty() ? source : fmt::format("{} ({})", path, source);
}

/// Why ours would not take an argument that ATen takes; nothing where it does, or may.
std::optional<std::string> why_not_this_rank(const jit::Node* node, const Rule& rule,
                                             const GraphRanks& ranks) {
  for (const Rank& required : rule.ranks) {
    const std::optional<std::size_t> rank = ranks.of(node->input(required.input));
    if (rank.value_or(required.rank) != required.rank)
      return fmt::format("the rank of {} is {}: only {} is replaced", required.name, *rank, required.rank);
  }
  return std::nullopt;
}

/// Those whose rank shows when the graph runs.
std::vector<Rank> open_ranks(const jit::Node* node, const Rule& rule, const GraphRanks& ranks) {
  std::vector<Rank> open;
  for (const Rank& required : rule.ranks)
    if (!ranks.of(node->input(required.input))) open.push_back(required);
  return open;
}

std::string names_of(const std::vector<Rank>& ranks) {
  std::string names;
  for (const Rank& rank : ranks) names += (names.empty() ? "" : ", ") + std::string(rank.name);
  return names;
}

/// What an earlier swap kept beside its replacement: the other side of a branch on ranks.
bool is_kept(const jit::Node* node) {
  const Rule* rule = rule_for(node);
  const jit::Node* branch = node->owningBlock()->owningNode();
  if (rule == nullptr || branch == nullptr || branch->kind() != c10::prim::If) return false;
  return std::ranges::any_of(branch->blocks()[0]->nodes(), [&](const jit::Node* other) {
    const std::string_view name = other->kind().toQualString();
    return (name == rule->replacement || name == kFusedReplacement) && other->input(0) == node->input(0) &&
           other->input(1) == node->input(1);
  });
}

/// Why this gelu cannot be fused with the linear that gives its input; nothing where it can.
std::optional<std::string> why_not_fused(const jit::Node* gelu, const GraphRanks& ranks) {
  if (!gelu->matches(kGelu)) return kOtherOverload;
  const jit::Node* from = gelu->input(0)->node();
  if (from->kind() == c10::prim::Param) return "its input is an argument, not the result of aten::linear";
  if (from->kind() != aten::linear)
    return fmt::format("its input comes from {}, not from aten::linear", from->kind().toQualString());
  if (!from->matches(kLinear.schema)) return "its input comes from another overload of aten::linear";
  if (auto reason = why_not_this_rank(from, kLinear, ranks)) return reason;
  if (from->owningBlock() != gelu->owningBlock()) return "aten::linear is outside its block";
  if (gelu->input(0)->uses().size() > 1) return "the result of aten::linear is used elsewhere too";
  if (!jit::toIValue(gelu->input(1))) return "approximate is not a constant";
  // A context such as no_grad() must hold for what it held for.
  for (; from != gelu; from = from->next())
    if (from->kind() == c10::prim::Enter || from->kind() == c10::prim::Exit)
      return "a `with` is between it and aten::linear";
  return std::nullopt;
}

/// Why a node that has a rule must stay; nothing where it can be replaced.
std::optional<std::string> why_not_replaced(const jit::Node* node, const Rule& rule,
                                            const GraphRanks& ranks) {
  if (!node->matches(rule.schema)) return kOtherOverload;
  if (auto reason = why_not_this_rank(node, rule, ranks)) return reason;
  if (node->kind() != aten::scaled_dot_product_attention) return std::nullopt;
  std::optional<c10::IValue> dropout = jit::toIValue(node->input(4));
  if (!dropout) return "dropout_p is not a constant: call eval() and torch::jit::freeze() first";
  if (dropout->toDouble() != 0)
    return fmt::format("dropout_p is {}: only 0 is replaced", dropout->toDouble());
  return std::nullopt;
}

/// Why a node that has no rule, but that a reader of the report may expect to be replaced, is left.
std::optional<std::string> why_left(const jit::Node* node) {
  if (node->kind() == aten::gelu_) return "it writes in place";
  if (node->kind() == c10::prim::CallMethod && node->input(0)->type()->cast<c10::InterfaceType>())
    return "it cannot be inlined: its object is known by an interface only";
  bool product = node->kind() == aten::matmul || node->kind() == aten::mm;
  if (node->kind() == aten::addmm || (product && jit::toIValue(node->input(1))))
    return "it may be an aten::linear that a pass took apart: swap before "
           "torch::jit::optimize_for_inference()";
  return std::nullopt;
}

/// Rewrites one graph and takes notes.
class Swapper {
 public:
  Swapper(const jit::Module& module, std::string method, SwapResult& result)
      : ranks_(module), method_(std::move(method)), result_(result) {}

  void run(jit::Graph& graph) {
    std::vector<jit::Node*> nodes;
    collect(graph.block(), nodes, ranks_);
    std::erase_if(nodes, is_kept);
    for (jit::Node* node : nodes) {
      if (node->kind() != aten::gelu) continue;
      if (auto reason = why_not_fused(node, ranks_)) {
        unfused_[node] = *reason;
      } else {
        gelu_of_[node->input(0)->node()] = node;
      }
    }
    for (jit::Node* node : nodes) visit(node);
    for (auto node = replaced_.rbegin(); node != replaced_.rend(); ++node) (*node)->destroy();
  }

 private:
  void visit(jit::Node* node) {
    if (auto gelu = gelu_of_.find(node); gelu != gelu_of_.end()) {
      fuse(node, gelu->second);
    } else if (const Rule* rule = rule_for(node)) {
      if (auto reason = why_not_replaced(node, *rule, ranks_)) return leave(node, *reason);
      replace({node}, node->inputs().vec(), *rule, rule->replacement);
    } else if (auto gelu = unfused_.find(node); gelu != unfused_.end()) {
      leave(node, gelu->second);
    } else if (auto reason = why_left(node)) {
      leave(node, *reason);
    }
  }

  /// Takes the linear's place, so that it reads what the linear read; gelu read the linear's result only.
  void fuse(jit::Node* linear, jit::Node* gelu) {
    jit::WithInsertPoint here(linear);
    std::vector<jit::Value*> inputs = linear->inputs().vec();
    inputs.push_back(linear->owningGraph()->insertConstant(*jit::toIValue(gelu->input(1))));
    replace({linear, gelu}, inputs, kLinear, kFusedReplacement);
  }

  /// A new node in the place of the first of `nodes` gives what the last one gave; where an argument's rank
  /// is not known it stands in a branch, on whose other side the nodes stay.
  void replace(const std::vector<jit::Node*>& nodes, at::ArrayRef<jit::Value*> inputs, const Rule& rule,
               const char* replacement) {
    jit::Node *first = nodes.front(), *last = nodes.back();
    jit::Node* node = first->owningGraph()->create(c10::Symbol::fromQualString(replacement), inputs);
    node->copyMetadata(first);
    node->output()->copyMetadata(last->output());
    const std::vector<Rank> open = open_ranks(first, rule, ranks_);
    jit::Value* output = open.empty() ? node->insertBefore(first)->output() : branch(nodes, node, open);
    last->output()->replaceAllUsesWith(output);
    replaced_.insert(replaced_.end(), nodes.begin(), nodes.end());
    std::string operators = first->kind().toQualString(), outcome = replacement;
    if (first != last) operators += fmt::format(" + {}", last->kind().toQualString());
    if (!open.empty())
      outcome += fmt::format(" where the rank of {} is {}", names_of(open), open.front().rank);
    result_.replaced.push_back({method_, operators, place_of(first), outcome});
  }

  /// `replacement` where the ranks are those, else copies of `nodes`.
  jit::Value* branch(const std::vector<jit::Node*>& nodes, jit::Node* replacement,
                     const std::vector<Rank>& open) {
    jit::Graph& graph = *nodes.front()->owningGraph();
    const jit::WithInsertPoint here(nodes.front());
    jit::Value* fits = nullptr;
    for (const Rank& required : open) {
      jit::Value* rank = graph.insert(aten::dim, {nodes.front()->input(required.input)});
      jit::Value* equal = graph.insert(aten::eq, {rank, static_cast<std::int64_t>(required.rank)});
      fits = fits == nullptr ? equal : graph.insert(aten::__and__, {fits, equal});
    }
    jit::Node* branch = graph.insertNode(graph.create(c10::prim::If, {fits}, 1));
    branch->copyMetadata(nodes.front());
    branch->addBlock()->appendNode(replacement);
    branch->blocks()[0]->registerOutput(replacement->output());
    jit::Block* other = branch->addBlock();
    std::unordered_map<jit::Value*, jit::Value*> copies;
    for (jit::Node* node : nodes) {
      jit::Node* copy = graph.createClone(node, [&](jit::Value* value) {
        const auto copied = copies.find(value);
        return copied == copies.end() ? value : copied->second;
      });
      copies[node->output()] = other->appendNode(copy)->output();
    }
    other->registerOutput(copies.at(nodes.back()->output()));
    branch->output()->copyMetadata(nodes.back()->output());
    return branch->output();
  }

  void leave(const jit::Node* node, const std::string& reason) {
    result_.left.push_back({method_, node->kind().toQualString(), place_of(node), reason});
  }

  GraphRanks ranks_;
  std::string method_;
  SwapResult& result_;
  std::unordered_map<jit::Node*, jit::Node*> gelu_of_;         // of the linears that are fused
  std::unordered_map<const jit::Node*, std::string> unfused_;  // the other gelus, and why
  std::vector<jit::Node*> replaced_;
};

/// Inlines and rewrites; constants are propagated as before any execution, which removes the branches that
/// functions like torch.nn.functional.softmax take on constant arguments.
void swap_graph(const jit::Module& module, std::shared_ptr<jit::Graph> graph, const std::string& method,
                SwapResult& result) {
  jit::Inline(*graph);
  jit::ConstantPropagationImmutableTypes(graph);
  Swapper(module, method, result).run(*graph);
}

}  // namespace

std::string SwapResult::text() const {
  std::string text = fmt::format("{} replaced, {} left", replaced.size(), left.size());
  auto line = [&](const SwapNote& note, const char* arrow) {
    std::string at = note.place.empty() ? "" : " at " + note.place;
    text += fmt::format("\n  {}: {}{}{}{}", note.method, note.operators, at, arrow, note.outcome);
  };
  for (const SwapNote& note : replaced) line(note, " -> ");
  for (const SwapNote& note : left) line(note, " left: ");
  return text;
}

SwapResult swap_operators(const jit::Module& module) {
  SwapResult result{module, {}, {}};
  std::vector<std::string> methods;
  for (const jit::Method& method : module.get_methods()) {
    size_t before = result.replaced.size();
    swap_graph(module, method.graph()->copy(), method.name(), result);
    if (result.replaced.size() > before) methods.push_back(method.name());
  }
  if (methods.empty()) return result;
  // A graph cannot be changed once its method has run, and modules share graphs: rewrite a new class's.
  result.module = module.clone(/*inplace=*/true);
  SwapResult again;
  for (const std::string& name : methods)
    swap_graph(result.module, result.module.get_method(name).graph(), name, again);
  return result;
}

}  // namespace tessera
