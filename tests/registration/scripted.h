#pragma once
#include <string>
#include <torch/csrc/jit/ir/irparser.h>
#include <torch/script.h>

namespace tessera::testing {

/// A module whose forward is the graph.
inline torch::jit::Module module_of(const std::string& text) {
  auto graph = std::make_shared<torch::jit::Graph>();
  torch::jit::parseIR(text, graph.get());
  torch::jit::Module module("mine");
  graph->insertInput(0, "self")->setType(module.type());
  module.type()->addMethod(module._ivalue()->compilation_unit()->create_function(
      c10::QualifiedName(module.type()->name()->qualifiedName(), "forward"), graph));
  return module;
}

}  // namespace tessera::testing
