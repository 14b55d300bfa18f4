#pragma once
/// torch::nn modules that call Tessera's operators or ATen's, with the parameter names of torch.nn.
#include "models/linear_gelu.h"
#include "models/load.h"
#include "models/multihead_attention.h"
#include "models/sentence_encoder.h"
#include "models/transformer_block.h"
