// Everything a program needs to train a model of its own: derive from dasgd::Objective, call
// dasgd::train.
#pragma once

#include "dasgd/advice/advise.hpp"
#include "dasgd/core/error.hpp"
#include "dasgd/core/objective.hpp"
#include "dasgd/core/samples.hpp"
#include "dasgd/data/stream/row_stream.hpp"
#include "dasgd/problems/logistic.hpp"
#include "dasgd/problems/logistic_stream.hpp"
#include "dasgd/problems/quadratic.hpp"
#include "dasgd/problems/softmax.hpp"
#include "dasgd/problems/softmax_stream.hpp"
#include "dasgd/record/trace/trace_writer.hpp"
#include "dasgd/runtime/train.hpp"
#include "dasgd/sim/simulate.hpp"
