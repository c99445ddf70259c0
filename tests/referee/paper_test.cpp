#include "dasgd/lab/referee/page/paper.hpp"

#include <gmock/gmock.h>

#include "dasgd/lab/rivals/methods/all_rivals.hpp"

namespace dasgd {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string table_where(bool shown) {
  Contest contest{.seeds = 3};
  contest.worlds.push_back({.name = "equal", .options = {.workers = 8}});
  JudgedWorld world{.name = "equal"};
  for (const char* name : {"dasgd", "asgd"}) {
    contest.rivals.push_back(choose_rival(name, all_rivals()));
    world.rows.push_back({.rival = name, .runs = {ContestRun{}}});
    world.judgements.push_back({.median = 2, .verdict = "no difference shown"});
  }
  world.verdict = {.winner = "asgd", .shown = shown};
  for (const auto& [name, text] :
       paper_files({}, contest, {world}, {},
                   {{"model", "cnn"}, {"data", "my_data"}, {"date", "2026-11-18"}}))
    if (name == "table.tex") return text;
  return "";
}

TEST(APaper, HasBoldTimesOnlyWhereADifferenceIsShown) {
  EXPECT_THAT(table_where(true), HasSubstr("\\textbf{2}"));
  EXPECT_THAT(table_where(false), Not(HasSubstr("\\textbf")));
}

TEST(APaper, HasATableWithALabelAndACaptionThatSaysWhatWasCompared) {
  EXPECT_THAT(table_where(true),
              AllOf(HasSubstr("\\label{tab:compare}"),
                    HasSubstr("of cnn on my\\_data with 8 workers: median over 3 seeds")));
}

}  // namespace
}  // namespace dasgd
