// What is said to members and asked of them, where it cannot be done.
#include "app/elastic.hpp"

namespace dasgd::test {
namespace {

// The commands it got wait for it.
TEST_F(ElasticApp, AStoppedMemberIsSaidNotToAnswer) {
  const Outcome outcome = script(std::string(begin) + R"(
    grown a 5; kill -STOP $(cat a.pid)
    ("$D" status a; echo $? > asked.status) & "$D" stop a; echo stop $?; ended asked
    kill -CONT $(cat a.pid); ended a)");
  EXPECT_EQ(outcome.out, "stop 1\nasked 1\na 0\n") << outcome.err;
  EXPECT_EQ(outcome.err,
            "dasgd: a: the member does not answer\ndasgd: a: the member does not answer\n");
  EXPECT_EQ(summary_of("a")["stop_reason"], "asked");
}

TEST_F(ElasticApp, StatusSaysWhatScriptsRelyOn) {
  const Outcome outcome = script(std::string(begin) + R"(
    member b join $(cat a/address) --token-file a/token --out b; found b/address; grown b 5
    "$D" leave b; ended b; "$D" status a --json > status.json; "$D" stop a; ended a)");
  ASSERT_EQ(outcome.out, "b 0\na 0\n") << outcome.err;
  const json status = json::parse(read_text(directory.file("status.json")));
  EXPECT_EQ(status.at("me"), "a");
  EXPECT_TRUE(status.at("run").is_string());
  EXPECT_GT(status.at("t"), 5);
  for (const char* key : {"digest", "set_hash"})  // as in summary.json
    EXPECT_THAT(status.at(key).get<std::string>(), ::testing::StartsWith("xxh3-128:")) << key;
  ASSERT_EQ(status.at("members").size(), 2u);
  for (const json& member : status.at("members")) {
    const bool is_a = member.at("name") == "a";
    EXPECT_EQ(member.at("state"), is_a ? "here" : "left");
    EXPECT_EQ(member.at("origin").get<std::string>().size(), 32u);
    for (const char* key : {"gradients", "rate", "behind", "seconds_behind",
                            "link_bytes_per_second", "messages", "gradients_per_message"})
      EXPECT_TRUE(member.at(key).is_number()) << key;
  }
  EXPECT_THAT(summary_of("a").at("set_hash").get<std::string>(),
              ::testing::StartsWith("xxh3-128:"));
}

TEST_F(ElasticApp, StatusForPeopleHasAHeader) {
  const Outcome outcome = script(std::string(begin) + R"(
    grown a 5; "$D" status a; "$D" status nowhere; "$D" stop a; ended a; "$D" status a)");
  EXPECT_THAT(outcome.out,
              ContainsRegex("^a: [0-9,]+ gradients in its model, set hash xxh3-128:.*\n"
                            "  member +state +gradients .*\n"
                            "  a +here +[0-9,]+ .* -\n"));
  EXPECT_EQ(outcome.err,
            "dasgd: nowhere is not a run directory\n"
            "dasgd: no member of an elastic run is running in a\n");
}

TEST_F(ElasticApp, AMemberThatLeavesSaysWhatWasItsOwn) {
  const Outcome outcome = script(std::string(begin) + R"(
    grown a 5; member b join $(cat a/address) --token-file a/token --out b
    found b/address; grown b 5; "$D" leave b; ended b; "$D" stop a; ended a)");
  const std::string log = read_text(directory.file("b.log"));
  EXPECT_THAT(log, HasSubstr(" on 1 worker, 2 members, lr 0.001\n"));
  EXPECT_THAT(log,
              ContainsRegex("gradients +[0-9,]+ \\([0-9,]+ since this member joined, [0-9,]+/s"));
  EXPECT_THAT(log, HasSubstr("\nmembers 2, here at the end 1, left 1, lost 0; "));
  const std::string other = read_text(directory.file("a.log"));
  EXPECT_EQ(other.find("b left"), other.rfind("b left"));
  EXPECT_NE(other.find("b left"), other.npos);
}

// Whoever joins before the first member has begun would look at nothing for half a minute.
TEST_F(ElasticApp, AMemberThatIsNotThereYetIsSaidToBeTried) {
  const Outcome outcome = script(R"(
    member b join 127.0.0.1:1 --plaintext --out b
    eventually grep -q 'connection refused; trying for 30s' b.log; kill -INT $(cat b.pid); ended b
    wc -l < b.log)");
  EXPECT_EQ(outcome.out, "b 130\n1\n") << outcome.err;
}

TEST_F(ElasticApp, NamesWithControlCharactersAreRefused) {
  const std::string run = "train --model quadratic --total-gradients 100 --listen 127.0.0.1:0 ";
  const std::string what = "at most 64 bytes of UTF-8 text without control characters";
  for (const char* name : {"'evil\\033[31m'", "'two\\nlines'", "'\\302\\233one'"}) {
    const std::string option = std::string(" --name \"$(printf ") + name + ")\" --out " + out();
    expect_refusal(run + option, what);
    expect_refusal("join 127.0.0.1:1 --plaintext" + option, what);
  }
  const std::string file = directory.write("evil.toml", "[elastic]\nname = \"evil\\u001b[31m\"\n");
  expect_refusal("train " + file + run.substr(5) + " --out " + out(), what);
}

TEST_F(ElasticApp, WhereNobodyHasEndedNothingCouldBeChecked) {
  const Outcome killed = script(std::string(begin) + R"(
    grown a 5; kill -9 $(cat a.pid); ended a; "$D" check a; echo check $?)");
  EXPECT_THAT(killed.out, AllOf(HasSubstr("audit      FAILED"), HasSubstr("check 1")));
  EXPECT_THAT(killed.err, HasSubstr("nothing to check"));

  fs::create_directory(directory.file("empty"));
  directory.write("empty/members.json",
                  R"([{"worker": 0, "origin": "00000000000000000000000000000001", "name": "a"}])");
  directory.write("empty/summary.json",
                  R"({"gradients": 0, "stop_reason": "asked", "replicas_identical": true})");
  const Outcome empty = dasgd("check " + directory.file("empty"));
  EXPECT_EQ(empty.status, 1);
  EXPECT_THAT(empty.err, HasSubstr("nothing to check"));
}

TEST_F(ElasticApp, MembersOfDifferentRunsAreDistinguished) {
  const Outcome outcome = script(std::string(begin) + R"(
    member b join $(cat a/address) --token-file a/token --out b
    member x train --model quadratic --lr 0.001 --compute 2ms --total-gradients 10000000 --listen 127.0.0.1:0 --out x
    found b/address; found x/address; grown b 5; grown x 5
    "$D" stop a; "$D" stop x; ended a b x
    "$D" check b a; echo one $?; "$D" check b x a; echo two $?)");
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("one 0\n"), HasSubstr("two 2\n")));
  EXPECT_EQ(outcome.err, "dasgd: b and x: these are members of different runs\n");
}

// They are written beside the members, and `runs/*` names all of them.
TEST_F(ElasticApp, ReportsAndTablesOfMembersAreNotTakenForMembers) {
  const Outcome outcome = script(R"(mkdir runs; cd runs)" + ("\n" + std::string(begin)) + R"(
    member b join $(cat a/address) --token-file a/token --out b; found b/address; grown b 5
    "$D" stop a; ended a b; rm *.log *.pid *.status; cd ..
    "$D" report runs/a runs/b > pages; "$D" export runs/a runs/b > tables; "$D" check runs/*; echo check $?
    "$D" check runs/report runs/export; echo nothing $?)");
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("audit      ok\ncheck 0\n"), HasSubstr("nothing 2\n")));
  EXPECT_THAT(outcome.err,
              HasSubstr("dasgd: runs/report: is a report or an export, not a run; skipped\n"));
}

TEST_F(ElasticApp, OnlyWhoIsSilentIsForgotten) {
  const Outcome outcome = script(std::string(begin) + R"(
    member b join $(cat a/address) --token-file a/token --out b; found b/address; grown b 5
    for name in b a nobody; do "$D" forget $name a; echo $name $?; done
    kill -STOP $(cat b.pid)
    eventually shows a 'b +(cut off|gone)'
    "$D" forget b a; echo forgotten $?; "$D" status a | grep -o 'b  *dead'
    kill -CONT $(cat b.pid); "$D" stop a; ended a b)");
  EXPECT_THAT(outcome.out,
              AllOf(HasSubstr("b 2\na 2\nnobody 2\nforgotten 0\n"), ContainsRegex("b +dead\n")));
  EXPECT_EQ(outcome.err,
            "dasgd: b is here: only a silent member can be forgotten\n"
            "dasgd: a is this member itself; use dasgd leave\n"
            "dasgd: no member has the name or origin \"nobody\"\n");
}

// Its door opens for its owner alone.
TEST_F(ElasticApp, AMemberOfAnotherUserIsNotSaidToBeMissing) {
  const Outcome outcome = script(std::string(begin) + R"(
    grown a 5; chmod 0 a/control
    other() { if [ $(id -u) = 0 ]; then setpriv --bounding-set=-dac_override,-dac_read_search --inh-caps=-all "$@"; else "$@"; fi; }
    other "$D" status a; echo asked $?; mkdir -p closed/b; chmod 0 closed
    other "$D" leave closed/b; echo sent $?; chmod 700 closed a/control; "$D" stop a; ended a)");
  EXPECT_EQ(outcome.out, "asked 2\nsent 2\na 0\n");
  const std::string why =
      ": a member may be running here, but you may not access it; run the command as the user who "
      "started it\n";
  EXPECT_EQ(outcome.err, "dasgd: a" + why + "dasgd: closed/b" + why);
}

TEST_F(ElasticApp, WhatIsNoAddressIsRefusedBeforeAnythingIsRead) {
  const std::string file = directory.write("c.toml", "model = \"quadratic\"\n");
  expect_refusal("join " + file + " --out " + out(), file + ": is a file; join takes the address");
  expect_refusal("join somewhere --plaintext --out " + out(), "\"somewhere\" is not an address");
}

TEST_F(ElasticApp, EveryCommandOnMembersShowsAnExample) {
  for (const std::string name : {"status", "leave", "stop", "forget", "token", "token rotate"})
    EXPECT_THAT(dasgd(name + " --help").out, HasSubstr("\n  dasgd " + name + " ")) << name;
}

// Of the time before it came it knows nothing.
TEST_F(ElasticApp, RatesAreOfTheTimeThatAMemberWasThere) {
  const Outcome outcome = script(std::string(begin) + R"(
    grown a 400; member b join $(cat a/address) --token-file a/token --out b
    found b/address; grown b 20; "$D" stop a; ended a b)");
  ASSERT_THAT(outcome.out, HasSubstr("a 0\nb 0")) << outcome.err;
  for (const char* name : {"a", "b"}) {
    const json s = summary_of(name);
    const double all = s["gradients"], before = s["joined_at_step"], samples = s["samples"];
    EXPECT_NEAR(s["samples_per_second"],
                samples * (all - before) / all / s["wall_seconds"].get<double>(), 1e-6 * samples)
        << name;
  }
  EXPECT_GT(summary_of("b")["joined_at_step"], 400);
}

}  // namespace
}  // namespace dasgd::test
