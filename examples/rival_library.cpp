// The same algorithm in a shared object, for `dasgd compare --rival-library`.
#include "dasgd/lab/rivals/rival_library.hpp"

#include "token_worker.hpp"

DASGD_RIVALS(rivals) {
  rivals.push_back(dasgd::made_by({.name = "token",
                                   .summary = "a token with the model goes round",
                                   .exchanges = "the model, to the next worker"},
                                  [](const auto& setup) { return make_token(setup); }));
}
