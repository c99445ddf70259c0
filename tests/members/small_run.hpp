// A small run of members on this machine.
#pragma once

#include <chrono>
#include <exception>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "dasgd/members/train_member.hpp"
#include "dasgd/problems/quadratic.hpp"

namespace dasgd::test {

/// It goes on until somebody ends it; each member makes a gradient per millisecond.
struct SmallRun {
  /// Without a token, and silent.
  members::MemberOptions options(const std::string& name,
                                 std::vector<std::string> contacts = {}) const {
    members::MemberOptions made;
    made.name = name;
    made.listen = "127.0.0.1:0";
    made.plaintext = true;
    made.contacts = std::move(contacts);
    made.say = [](const std::string&) {};
    return made;
  }
  std::unique_ptr<members::Member> member(const members::MemberOptions& how) const {
    return members::become_member<double>(objective, run, how);
  }
  TrainResult<double> train(members::Member& member) const {
    return members::train_member<double>(objective, run, member);
  }

  const Quadratic objective = Quadratic::random(7, 4);
  TrainOptions run{.workers = 1,
                   .eta = 0.001,
                   .total_gradients = 1'000'000'000,
                   .compute = std::chrono::milliseconds(1)};
};

/// Why a run failed; empty if it did not.
inline std::string why(const std::exception_ptr& failure) {
  if (!failure) return "";
  try {
    std::rethrow_exception(failure);
  } catch (const std::exception& error) {
    return error.what();
  }
}

}  // namespace dasgd::test
