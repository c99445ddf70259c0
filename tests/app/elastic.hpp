// Members of an elastic run as processes of the real program.
#pragma once

#include <string>

#include "app/app.hpp"

namespace dasgd::test {

class ElasticApp : public App {
 protected:
  /// Runs shell commands; `$D` is the program, `member NAME ARGUMENTS` runs it in the background
  /// with its output in NAME.log. `eventually COMMAND` waits until it succeeds, and ends the script
  /// where it never does; `found FILE`, `ended NAME` and `grown NAME STEPS` wait likewise. Members
  /// that still run when the script ends, however it does, are killed.
  Outcome script(const std::string& commands) {
    const std::string file = directory.write("script.sh", "cd " + directory.path() + R"(
      D=)" DASGD_BINARY R"(
      trap 'for p in *.pid; do [ -s ${p%.pid}.status ] || kill -KILL $(cat $p); done 2> /dev/null' EXIT
      member() { local n=$1; shift
        ("$D" "$@" --name $n --no-report > $n.log 2>&1 & echo $! > $n.pid; wait $!; echo $? > $n.status) & }
      eventually() { for i in $(seq 600); do "$@" && return; sleep 0.1; done
        echo "never: $*"; tail -n 5 *.log; exit 9; }
      found() { eventually [ -s "$1" ]; }
      ended() { for n in "$@"; do found $n.status; echo $n $(cat $n.status); done; }
      shows() { "$D" status $1 | grep -Eq "$2"; }
      steps() { "$D" status $1 --json | grep -o '"t":[0-9]*' | cut -d: -f2; }
      grown() { local t=$(steps $1); for i in $(seq 600); do
        [ $(steps $1) -gt $((t + $2)) ] && return; sleep 0.05; done; echo stalled; exit 9; }
)" + commands + "\n");
    return shell("bash " + file);
  }
  json summary_of(const std::string& name) {
    return json::parse(read_text(directory.file(name + "/summary.json")));
  }
  static constexpr const char* begin =
      "member a train --model quadratic --lr 0.001 --compute 2ms --total-gradients 10000000 "
      "--listen 127.0.0.1:0 --out a --trace --eval-every 0; found a/address\n";
};

}  // namespace dasgd::test
