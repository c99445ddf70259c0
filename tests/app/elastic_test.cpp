// Members that come, die and leave as real processes over TLS.
#include "app/elastic.hpp"

#include <map>
#include <set>

namespace dasgd::test {
namespace {

// A process that nobody has waited for yet is gone all the same.
bool is_gone(const std::string& pid) {
  const std::string stat = read_text("/proc/" + pid + "/stat");
  return stat.empty() || stat.find(") Z") != stat.npos;
}

TEST_F(ElasticApp, AScriptThatFailsLeavesNobodyRunning) {
  EXPECT_EQ(script(std::string(begin) + "exit 9").status, 9);
  const std::string pid = std::to_string(std::stoi(read_text(directory.file("a.pid"))));
  EXPECT_TRUE(eventually([&] { return is_gone(pid); }));
}

TEST_F(ElasticApp, ATestThatIsKilledLeavesNobodyRunning) {
  const std::string file = directory.file("pid");
  const pid_t test = ::fork();
  if (test == 0) {
    const Process process("sh -c 'echo $$ > " + file + "; exec sleep 600'");
    eventually([&] { return read_text(file).ends_with('\n'); });
    ::kill(::getpid(), SIGKILL);
  }
  ::waitpid(test, nullptr, 0);
  const std::string pid = std::to_string(std::stoi(read_text(file)));
  EXPECT_TRUE(eventually([&] { return is_gone(pid); }));
}

TEST_F(ElasticApp, MembersJoinDieAndLeaveAndTheRestEndsIdentical) {
  const Outcome outcome = script(std::string(begin) + R"(
    member b join $(cat a/address) --token-file a/token --out b --trace
    member c join $(cat a/address) --token-file a/token --out c --trace
    member d join $(cat a/address) --token-file a/token --out d --trace
    found b/members.json; found c/members.json; found d/members.json; grown a 60
    kill -9 $(cat c.pid) ; grown a 60
    "$D" leave d; ended d; "$D" status b > status.txt; "$D" stop b; ended a b
    "$D" check a b c d; echo check $?)");
  ASSERT_EQ(outcome.status, 0) << outcome.out << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("d 0"), HasSubstr("a 0\nb 0"), HasSubstr("check 0")))
      << outcome.err << read_text(directory.file("a.log"));
  EXPECT_THAT(read_text(directory.file("a.log")), HasSubstr("join with: dasgd join 127.0.0.1:"));
  const json a = summary_of("a"), b = summary_of("b");
  EXPECT_EQ(a["set_hash"], b["set_hash"]);
  EXPECT_EQ(a["replica_digest"], b["replica_digest"]);
  EXPECT_EQ(a["replicas_identical"], true);
  EXPECT_EQ(a["lost"], 0);
  EXPECT_EQ(a["members"], 4);
  EXPECT_EQ(a["members_at_end"], 2);
  EXPECT_EQ(a["left"], 1);
  EXPECT_EQ(a["lost_members"], 1);
  EXPECT_GE(a["gradients"], 120);
  EXPECT_GT(b["joined_at_step"], 0);
  EXPECT_EQ(summary_of("d")["stop_reason"], "left");
  const auto mode = fs::status(directory.file("a/token")).permissions();
  EXPECT_EQ(mode & fs::perms::all, fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(ElasticApp, TheFirstMayDieAndOthersAreJoinedThroughTheRest) {
  const Outcome outcome = script(std::string(begin) + R"(
    member b join $(cat a/address) --token-file a/token --out b
    found b/address; grown b 60
    kill -9 $(cat a.pid) ; grown b 60
    member c join $(cat b/address) --token-file b/token --out c
    found c/address; grown c 20; "$D" stop c; ended b c; "$D" check b c; echo check $?)");
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("b 0\nc 0"), HasSubstr("check 0"))) << outcome.err;
  EXPECT_EQ(summary_of("b")["replica_digest"], summary_of("c")["replica_digest"]);
}

TEST_F(ElasticApp, AMemberThatComesBackFromItsDirectoryKeepsItsName) {
  const Outcome outcome = script(std::string(begin) + R"(
    member b join $(cat a/address) --token-file a/token --out b
    found b/address; grown b 20; kill -9 $(cat b.pid); eventually shows a "b +dead"
    ("$D" join b --no-report > again.log 2>&1 & echo $! > again.pid; wait $!; echo $? > again.status) &
    eventually shows a "b +here"; "$D" status a --json > status.json; "$D" stop a; ended a again)");
  ASSERT_EQ(outcome.out, "a 0\nagain 0\n") << outcome.err;
  const json status = json::parse(read_text(directory.file("status.json")));
  std::set<std::string> origins;
  for (const json& member : status.at("members"))
    if (member.at("name") == "b") origins.insert(member.at("origin").get<std::string>());
  EXPECT_EQ(origins.size(), 2u) << "a new origin each time";
}

TEST_F(ElasticApp, StopEndsTheRunForEverybody) {
  const Outcome outcome = script(std::string(begin) + R"(
    member b join $(cat a/address) --token-file a/token --out b
    found b/address; grown b 30; "$D" stop b; ended a b)");
  EXPECT_THAT(outcome.out, HasSubstr("a 0\nb 0")) << outcome.err;
  EXPECT_EQ(summary_of("a")["stop_reason"], "asked");
  EXPECT_EQ(summary_of("a")["set_hash"], summary_of("b")["set_hash"]);
}

// Tens of thousands of gradients a second: what is said of the run does not wait behind them.
TEST_F(ElasticApp, GradientsOfMicrosecondsDoNotOutrunLinks) {
  const Outcome outcome = script(R"(
    member a train --model quadratic --lr 0.001 --total-gradients 100000000 --eval-every 0 --listen 127.0.0.1:0 --out a
    found a/address; member b join $(cat a/address) --token-file a/token --out b
    found b/address; grown b 20000; grown a 20000; "$D" stop a; ended a b
    "$D" check a b; echo check $?)");
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("a 0\nb 0"), HasSubstr("check 0"))) << outcome.err;
  const json a = summary_of("a"), b = summary_of("b");
  EXPECT_EQ(a["replica_digest"], b["replica_digest"]);
  EXPECT_EQ(a["members_at_end"], 2);
  EXPECT_EQ(a["lost_members"], 0);
  EXPECT_EQ(a["abandoned"], 0);
}

// Also from that of one who joined a run that had been started again.
TEST_F(ElasticApp, AWholeRunGoesOnFromTheCheckpointOfAnyMember) {
  const Outcome outcome = script(R"(
    member a train --model quadratic --lr 0.001 --compute 2ms --total-gradients 8000 --eval-every 0 --listen 127.0.0.1:0 --out a
    found a/address; member b join $(cat a/address) --token-file a/token --out b; found b/address; grown b 200
    kill -9 $(cat a.pid); "$D" stop b; ended b; rm b/address
    member b2 train --resume b --listen 127.0.0.1:0; found b/address
    member c join $(cat b/address) --token-file b/token --out c; found c/address; grown c 50
    kill -9 $(cat b2.pid); "$D" stop c; ended c; cp c/summary.json before.json; rm c/address
    member c2 train --resume c --listen 127.0.0.1:0; found c/address
    member d join $(cat c/address) --token-file c/token --out d; ended c2 d; "$D" check c d; echo check $?)");
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("c2 0\nd 0"), HasSubstr("check 0"))) << outcome.err;
  const json before = json::parse(read_text(directory.file("before.json")));
  EXPECT_GT(before["gradients"], 250);
  for (const char* name : {"c", "d"}) {
    const json s = summary_of(name);
    EXPECT_EQ(s["stop_reason"], "budget") << name;
    EXPECT_EQ(s["resumed"]["gradients"], before["gradients"]) << name;
    EXPECT_GE(s["gradients"], 8000) << name;
    EXPECT_LT(s["gradients"], 8100) << name;
  }
}

// Whoever was away when the token changed is known by its key.
TEST_F(ElasticApp, ANewTokenAdmitsOthersAndTheOldOneNobody) {
  const Outcome outcome = script(R"(
    member a train --model quadratic --lr 0.001 --compute 2ms --total-gradients 10000000 --eval-every 0 --gone-after 2s --listen 127.0.0.1:0 --out a
    found a/address; A=$(cat a/address); cp -p a/token old
    member b join $A --token-file old --out b; found b/address
    member c join $A --token-file old --out c; found c/address; grown c 20
    same() { eventually cmp -s a/token $1/token; }
    kill -STOP $(cat c.pid); eventually shows a 'c +gone'
    "$D" token rotate a; echo rotate $?; cmp -s old a/token; echo old $?; stat -c %a a/token b/token; same b
    kill -CONT $(cat c.pid); same c; grown c 20
    "$D" join $A --token-file old --out x; echo refused $?
    member d join $(cat b/address) --token-file b/token --out d; found d/address; grown d 20
    kill -9 $(cat b.pid); member e join b --out e; found e/address; grown e 20
    "$D" stop d; ended a c d e; "$D" check a c d e; echo check $?)");
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("rotate 0\nold 1\n600\n600\nrefused 2"),
                                 HasSubstr("a 0\nc 0\nd 0\ne 0"), HasSubstr("check 0")))
      << outcome.err << read_text(directory.file("c.log"));
  EXPECT_THAT(outcome.err, HasSubstr("it has another token"));
}

TEST_F(ElasticApp, AForeignMemberGetsTheReason) {
  const Outcome outcome = script(std::string(begin) + R"(
    A=$(cat a/address)
    echo dasgd1-aaaa > bad; chmod 600 bad; "$D" join $A --token-file bad --out x; echo bad $?
    "$D" join $A --out x; echo none $?
    member other train --model quadratic --total-gradients 100000 --compute 2ms --listen 127.0.0.1:0 --out other
    found other/address; "$D" join $A --token-file other/token --out x; echo foreign $?
    "$D" status x; echo status $?; "$D" stop other; ended other; "$D" stop a; ended a)");
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("bad 2"), HasSubstr("none 2"), HasSubstr("foreign 2"),
                                 HasSubstr("status 2"), HasSubstr("a 0")))
      << outcome.err;
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 4) << outcome.err;
}

TEST_F(ElasticApp, TheStepSizeIsForAsManyMembersAsAreExpected) {
  const std::string run =
      "train --model quadratic --lr auto --total-gradients 200 --no-report --listen 127.0.0.1:0 ";
  const Outcome expecting = dasgd(run + "--expect 5 --out " + out());
  ASSERT_EQ(expecting.status, 0) << expecting.err;
  EXPECT_THAT(read_text(out() + "/advice.json"), HasSubstr("of 5 workers in virtual time"));
  EXPECT_THAT(expecting.err, ::testing::Not(HasSubstr("--expect")));
  const Outcome alone = dasgd(run + "--out " + out("alone"));
  ASSERT_EQ(alone.status, 0) << alone.err;
  EXPECT_THAT(alone.err, HasSubstr("this step is for one member; --expect N finds one for N"));
}

TEST_F(ElasticApp, WhatNeedsMembersIsRefusedWithoutThem) {
  for (const std::string option : {"--expect 3", "--name a", "--gone-after 5s", "--plaintext"}) {
    const Outcome outcome = dasgd("train --model quadratic --out " + out() + " " + option);
    EXPECT_EQ(outcome.status, 2) << option;
    EXPECT_EQ(outcome.err, "dasgd: " + option.substr(0, option.find(' ')) +
                               ": only for a run that others can join; add --listen HOST:PORT\n");
  }
  const std::string file = directory.write("members.toml", "[elastic]\nexpected = 3\n");
  const Outcome outcome = dasgd("train " + file + " --model quadratic --out " + out());
  EXPECT_EQ(outcome.status, 2);
  EXPECT_EQ(
      outcome.err,
      "dasgd: " + file +
          ": elastic.expected: only for a run that others can join; add --listen HOST:PORT\n");
}

TEST_F(ElasticApp, WhatMembersCannotDoIsRefused) {
  const std::string links =
      "members of an elastic run choose their links themselves: --topology must be full "
      "(the default), --relay mesh, tree or auto";
  for (const auto& [options, line] : std::map<std::string, std::string>{
           {"--workers 3",
            "a member of an elastic run is one worker: start more of them with dasgd join"},
           {"--topology ring", links},
           {"--relay apply", links},
           {"--speeds lognormal:1",
            "--speeds is for the workers of one process; use --slow to slow down a member of an "
            "elastic run"},
           {"--plaintext --token-file t",
            "--token-file, --cert and --plaintext exclude each other: give one"},
           {"--engine mpi",
            "--listen: members are processes of their own, not ranks of an MPI job"}}) {
    const std::string model = options.starts_with("--model") ? "" : "--model quadratic ";
    const Outcome outcome =
        dasgd("train " + model + "--listen 127.0.0.1:0 --out " + out() + " " + options);
    EXPECT_EQ(outcome.status, 2) << options;
    EXPECT_EQ(outcome.err, "dasgd: " + line + "\n");
    EXPECT_FALSE(std::filesystem::exists(out())) << options;
  }
}

TEST_F(ElasticApp, ANewcomerCannotWantTwoThingsAtOnce) {
  const std::string join = "join 127.0.0.1:1 --out " + out() + " ";
  expect_refusal(join + "--plaintext --dial-out-only --listen 127.0.0.1:0",
                 "--dial-out-only and --listen exclude each other");
  const std::string one = "--token-file, --cert and --plaintext exclude each other: give one";
  expect_refusal(join + "--plaintext --token-file t", one);
  expect_refusal(join + "--cert c --key k --ca a --token-file t", one);
  expect_refusal(join + "--plaintext --slow 0.5", "--slow 0.5: must be 1 or more");
}

TEST_F(ElasticApp, HowSlowAMachineIsDoesNotTravel) {
  const Outcome outcome = script(R"(
    member a train --model quadratic --lr 0.001 --slow 0:50 --total-gradients 10000000 --eval-every 0 --listen 127.0.0.1:0 --out a
    found a/address; member b join $(cat a/address) --token-file a/token --out b; found b/address
    member c join $(cat a/address) --token-file a/token --slow 3 --out c; found c/address
    grown c 20; "$D" stop a; ended a b c; grep -h slow [abc]/config.toml)");
  EXPECT_EQ(outcome.out, "a 0\nb 0\nc 0\nslow = [\"0:50\"]\nslow = [\"0:3\"]\n") << outcome.err;
}

TEST_F(ElasticApp, OtherDataIsRefusedWithWhatDiffers) {
  std::string rows = "x,y,label\n", other = rows, slim = "x,label\n";
  for (int k = 0; k < 24; ++k) {
    const std::string x = std::to_string(k % 5) + ",", point = x + std::to_string(k % 3) + ",";
    rows += point + std::to_string(k % 2) + "\n";
    other += point + std::to_string(1 - k % 2) + "\n";
    slim += x + std::to_string(k % 2) + "\n";
  }
  directory.write("data.csv", rows);
  directory.write("more.csv", rows + rows.substr(rows.find('\n') + 1));
  directory.write("other.csv", other);
  directory.write("slim.csv", slim);
  const Outcome outcome = script(R"(
    member a train --model logistic --data data.csv --label label --compute 2ms --total-gradients 10000000 --eval-every 0 --listen 127.0.0.1:0 --out a
    found a/address
    for data in more slim other; do "$D" join $(cat a/address) --token-file a/token --data $data.csv --no-report --out x; echo $data $?; done
    "$D" stop a; ended a)");
  EXPECT_THAT(outcome.out, HasSubstr("more 2\nslim 2\nother 2\na 0"));
  const std::string run = "dasgd: cannot join: the run has data: ";
  const std::string shape = run + "22 samples x 2 columns, 2 classes; you have data: ";
  EXPECT_THAT(outcome.err, ::testing::MatchesRegex(
                               shape + "4[0-9] samples x 2 columns, 2 classes\n" + shape +
                               "22 samples x 1 columns, 2 classes\n" + run +
                               "a gradient of [^\n]*; you have data: a gradient of [^\n]*\n"));
  EXPECT_THAT(outcome.out, ::testing::Not(HasSubstr("trained")));
  EXPECT_FALSE(fs::exists(directory.file("x")));
}

TEST_F(ElasticApp, AStartThatFailsLeavesTheEarlierRunAsItWas) {
  const Outcome outcome = script(R"(
    for k in $(seq 24); do echo $((k % 5)),$((k % 3)),$((k % 2)); done > rows
    (echo x,y,label; cat rows) > wide.csv; (echo x,label; cut -d, -f1,3 rows) > slim.csv
    T="train --model logistic --data wide.csv --label label --eval-every 0"
    "$D" $T --total-gradients 300 --checkpoint-every 1ms --trace --out old > /dev/null
    tree() { find old | sort; find old -type f | sort | xargs sha256sum; }; tree > before
    member a $T --compute 2ms --total-gradients 10000000 --listen 127.0.0.1:0 --out a; found a/address; A=$(cat a/address)
    for out in old new; do
      "$D" $T --listen $A --out $out; echo taken $?
      "$D" $T --listen 192.0.2.1:0 --plaintext --out $out; echo plain $?
      "$D" join $A --token-file a/token --data slim.csv --out $out; echo refused $?
      "$D" join $A --token-file a/token --listen $A --out $out; echo port $?
    done
    "$D" train --resume old --total-gradients 400 --listen $A; echo resumed $?
    tree | cmp before - && [ -s old/report.html ] && [ ! -e new ] && echo untouched; "$D" stop a; ended a)");
  const std::string refused = "taken 2\nplain 2\nrefused 2\nport 2\n";
  EXPECT_EQ(outcome.out, refused + refused + "resumed 2\nuntouched\na 0\n") << outcome.err;
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 9) << outcome.err;
}

// Its model is the first thing that cannot be taken back from it.
TEST_F(ElasticApp, AnEarlierRunIsThereUntilTheModelOfANewOneIs) {
  const Outcome outcome = script(R"(
    "$D" train --model quadratic --lr 0.001 --gradients 50 --out old > /dev/null
    tree() { find old | sort; find old -type f | sort | xargs sha256sum; }; tree > before
    member a train --model quadratic --lr 0.001 --compute 1000s --listen 127.0.0.1:0 --out a; found a/address
    member b join $(cat a/address) --token-file a/token --out old
    eventually shows a ' b +here'
    kill -INT $(cat b.pid); ended b; P=$(cut -d: -f2 a/address); kill -9 $(cat a.pid); ended a
    "$D" train --model quadratic --listen 127.0.0.1:$P --watch $P --out old; echo watch $?
    tree | cmp before - && echo untouched)");
  EXPECT_EQ(outcome.out, "b 130\na 137\nwatch 2\nuntouched\n") << outcome.err;
}

TEST_F(ElasticApp, AJoinThatStillTriesEndsAtOnceWhenItIsInterrupted) {
  const Outcome outcome = script(R"(
    "$D" join 127.0.0.1:1 --plaintext --quiet --out x & p=$!
    eventually grep -q 'SigBlk:.*420[23]$' /proc/$p/status
    kill -INT $p; wait $p; echo interrupted $?)");
  EXPECT_EQ(outcome.out, "interrupted 130\n");
  EXPECT_EQ(outcome.err, "");
  EXPECT_FALSE(fs::exists(directory.file("x")));
}

// Its data is a pipe into which nobody writes.
TEST_F(ElasticApp, AMemberInterruptedWhileItReadsItsDataLeavesNothingAndTheRunGoesOn) {
  const Outcome outcome = script(R"(
    (echo x,y,label; for k in $(seq 24); do echo $((k % 5)),$((k % 3)),$((k % 2)); done) > rows.csv; mkfifo pipe.csv
    member a train --model logistic --data rows.csv --label label --compute 2ms --total-gradients 10000000 --eval-every 0 --listen 127.0.0.1:0 --out a
    found a/address; member b join $(cat a/address) --token-file a/token --data pipe.csv --out b; found b.pid
    exec 3<> pipe.csv; reads() { ls -l /proc/$(cat b.pid)/fd | grep -q pipe.csv; }; eventually reads
    kill -INT $(cat b.pid); ended b; cat b.log; grown a 20; "$D" stop a; ended a)");
  EXPECT_EQ(outcome.out, "b 130\na 0\n") << outcome.err;
  EXPECT_FALSE(fs::exists(directory.file("b")));
  EXPECT_EQ(summary_of("a")["members"], 1);
}

// Scripts wait for it.
TEST_F(ElasticApp, AQuietRunPrintsHowToJoinAndNothingElse) {
  const Outcome outcome = script(R"(
    member a train --model quadratic --lr 0.001 --compute 2ms --total-gradients 10000000 --quiet --listen 127.0.0.1:0 --out a
    found a/address; "$D" join $(cat a/address) --token-file a/token --quiet --no-report --out b 2> b.err & found b/address
    unwarned() { grep -v "S_avg is" "$1"; true; }  # a busy machine has stale gradients and says so
    grown b 5; "$D" stop a; ended a; wait; unwarned a.log; unwarned b.err >&2)");
  EXPECT_THAT(outcome.out,
              ::testing::MatchesRegex(
                  "a 0\njoin with: dasgd join 127.0.0.1:[0-9]+ --token-file a/token\n"));
  EXPECT_EQ(outcome.err, "");
}

TEST_F(ElasticApp, APortThatIsTakenIsNamed) {
  const Outcome outcome = script(std::string(begin) + R"(
    "$D" train --model quadratic --listen $(cat a/address) --out x; echo taken $?; "$D" stop a; ended a)");
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("taken 2"), HasSubstr("a 0")));
  EXPECT_THAT(outcome.err, HasSubstr("is in use by another program"));
}

TEST_F(ElasticApp, AFullDiskOfOneMemberCostsItsTraceAndNothingElse) {
  const Outcome outcome = script(std::string(begin) + R"(
    ( (ulimit -f 40; "$D" join $(cat a/address) --token-file a/token --trace --no-report --name b --out b) > b.log 2>&1; echo $? > b.status) &
    found b/address; reported() { grep -q 'trace.jsonl: cannot be written: File too large' b.log; }; eventually reported
    grown b 50; "$D" stop a; ended a b; ls b/trace.jsonl 2>&1 | grep -o 'No such file')");
  EXPECT_EQ(outcome.out, "a 0\nb 0\nNo such file\n") << outcome.err;
  EXPECT_EQ(summary_of("b")["replica_digest"], summary_of("a")["replica_digest"]);
  EXPECT_EQ(summary_of("a")["members_at_end"], 2);
}

// A newcomer meanwhile is not a reason to leave.
TEST_F(ElasticApp, AMemberWhoseDirectoryIsGoneGoesOnAndSaysSoAtItsEnd) {
  const Outcome outcome = script(std::string(begin) + R"(
    member b join $(cat a/address) --token-file a/token --out b; found b/address; grown b 20; rm -rf b
    member c join $(cat a/address) --token-file a/token --out c; found c/address; grown c 100
    "$D" status a | grep -o ' b  *here'; kill -INT $(cat b.pid); ended b; "$D" stop a; ended a c; tail -n 1 b.log)");
  EXPECT_THAT(outcome.out, ContainsRegex("b +here\nb 1\na 0\nc 0\ndasgd: .*cannot be written"))
      << outcome.err << read_text(directory.file("b.log"));
  EXPECT_EQ(summary_of("a")["left"], 1);
  EXPECT_EQ(summary_of("a")["lost_members"], 0);
}

TEST_F(ElasticApp, AClockThatIsADayOffDoesNotMatter) {
  const Outcome outcome =
      script(std::string(begin) +
             R"(
    export ASAN_OPTIONS=$ASAN_OPTIONS:verify_asan_link_order=0
    [ $(LD_PRELOAD=)" DASGD_ANOTHER_DAY
             R"( date +%s) -lt $(($(date +%s) - 80000)) ] && echo yesterday
    export LD_PRELOAD=)" DASGD_ANOTHER_DAY
             R"(; member b join $(cat a/address) --token-file a/token --out b; unset LD_PRELOAD
    found b/address; grown b 100; "$D" stop a; ended a b; "$D" check a b; echo check $?)");
  EXPECT_THAT(outcome.out,
              AllOf(HasSubstr("yesterday"), HasSubstr("a 0\nb 0"), HasSubstr("check 0")))
      << outcome.err;
}

}  // namespace
}  // namespace dasgd::test
