// Files that change between two commands, and files that a command must not change.
#include "app/app.hpp"
#include "support/made_tables.hpp"

namespace dasgd::test {
namespace {

class ChangedFiles : public App {
 protected:
  void train_on(const std::string& data) {
    const Outcome outcome = dasgd("train --data " + data +
                                  " --workers 1 --total-gradients 20 --no-report --out " + out());
    ASSERT_EQ(outcome.status, 0) << outcome.err;
  }
};

TEST_F(ChangedFiles, AComparisonDoesNotGoOnWithOtherData) {
  const std::string data = directory.write("d.csv", clusters_csv(200, 1));
  const std::string compare =
      "compare --model softmax --workers 2 --target-loss 0.9 --rivals dasgd --world equal --seeds 1"
      " --tune 1 --max-time 2s --no-report --quiet --data " +
      data + " --out " + out();
  ASSERT_EQ(dasgd(compare).status, 0);
  ASSERT_EQ(dasgd(compare).status, 0) << "nothing has changed";
  directory.write("d.csv", clusters_csv(200, 2));
  const Outcome other = dasgd(compare);
  EXPECT_EQ(other.status, 2);
  EXPECT_THAT(other.err,
              HasSubstr("is of another comparison, or a file that it reads has changed"));
}

TEST_F(ChangedFiles, NeitherDoesASweep) {
  const std::string data = directory.write("d.csv", clusters_csv(200, 1));
  const std::string base = directory.write("base.toml", "model = \"softmax\"\ndata = \"" + data +
                                                            "\"\n[budget]\ntotal_gradients = 20\n");
  const auto sweep = [&](const std::string& steps) {
    return dasgd("sweep " + base + " --vary lr=" + steps + " --quiet --out " + out());
  };
  ASSERT_EQ(sweep("0.1").status, 0);
  ASSERT_EQ(sweep("0.1,0.2").status, 0) << "with more runs";
  directory.write("d.csv", clusters_csv(200, 2));
  const Outcome other = sweep("0.1,0.2,0.3");
  EXPECT_EQ(other.status, 2);
  EXPECT_THAT(other.err, HasSubstr("has runs with other contents of " + data));
}

TEST_F(ChangedFiles, ADamagedLineOfAComparisonCostsOneRun) {
  const std::string compare =
      "compare --model quadratic --workers 2 --target-loss -0.1 --rivals dasgd --world equal"
      " --seeds 2 --tune 3 --max-time 2s --no-report --out " +
      out();
  ASSERT_EQ(dasgd(compare).status, 0);
  const std::string journal = out() + "/journal.jsonl", before = read_text(out() + "/compare.csv");
  std::string text = read_text(journal);
  text[text.find('\n') + 1] = 'X';
  const auto runs = std::count(text.begin(), text.end(), '\n') - 1;
  directory.write("run/journal.jsonl", text);
  const Outcome again = dasgd(compare);
  EXPECT_EQ(again.status, 0);
  EXPECT_THAT(again.err, AllOf(HasSubstr("resuming: " + std::to_string(runs - 1) + " runs"),
                               HasSubstr("journal.jsonl has 1 line that cannot be read")));
  EXPECT_EQ(read_text(out() + "/compare.csv"), before);
}

TEST_F(ChangedFiles, AnswersReplaceNothingThatTheyComeFrom) {
  const std::string data = directory.write("d.csv", clusters_csv(200, 1));
  train_on(data);
  const std::string predict = "predict " + out() + " " + data + " --out ";
  for (const std::string& wanted : {data, out() + "/model.npy", out() + "/preprocessing.json"}) {
    const std::string before = read_text(wanted);
    const Outcome outcome = dasgd(predict + wanted);
    EXPECT_EQ(outcome.status, 2) << wanted;
    EXPECT_THAT(outcome.err, HasSubstr("is a file that predict reads, or one of the run"));
    EXPECT_EQ(read_text(wanted), before);
  }
  for (const std::string& answers : {directory.file("p.csv"), out() + "/answers.csv"}) {
    EXPECT_EQ(dasgd(predict + answers).status, 0);
    EXPECT_EQ(dasgd(predict + answers).status, 0) << "earlier answers";
  }
}

TEST_F(ChangedFiles, ARunDoesNotGoOnWithAnotherScaling) {
  const std::string data = directory.write("d.csv", clusters_csv(200, 1));
  train_on(data);
  const std::string before = read_text(out() + "/preprocessing.json");
  const Outcome other = dasgd("train --resume " + out() + " --scale none --total-gradients 30");
  EXPECT_EQ(other.status, 2);
  EXPECT_THAT(other.err, HasSubstr("its scaling was standard and is now none; that cannot change"));
  EXPECT_EQ(read_text(out() + "/preprocessing.json"), before);
}

// A number and, in its last column, about `unit` times it; a value that is missing.
std::string line_csv(double unit) {
  std::string text = "a,b,y\n";
  for (int r = 0; r < 100; ++r)
    text += std::to_string(r % 10) + "," + (r == 7 ? "" : std::to_string(r % 3 * r % 7)) + "," +
            std::to_string(unit * (r % 10) + r % 4) + "\n";
  return text;
}

class BestOfTwoLegs : public ChangedFiles {
 protected:
  void SetUp() override {
    const Outcome first = dasgd("train --model linear --workers 1 --total-gradients 400 " +
                                ("--no-report --data " + data) + " --loss huber --validation " +
                                held + " --out " + out());
    ASSERT_EQ(first.status, 0) << first.err;
    before = best();
  }
  double best() { return json::parse(read_text(out() + "/model.best.json"))["eval_loss"]; }
  Outcome resumed(const std::string& more) {
    return dasgd("train --no-report --total-gradients 401 --resume " + out() + " " + more);
  }

  const std::string data = directory.write("d.csv", line_csv(1));
  const std::string held = directory.write("held.csv", line_csv(1));
  const std::string forgotten = "; the best model so far is forgotten";
  double before = 0;
};

TEST_F(BestOfTwoLegs, AreNotComparedAcrossValidationData) {
  const Outcome outcome = resumed("--validation " + directory.write("far.csv", line_csv(50)));
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("its validation was " + held + " and is now " +
                                     directory.file("far.csv") + forgotten));
  EXPECT_GT(best(), 10 * before) << "the first model is worse there than it was on other data";
}

TEST_F(BestOfTwoLegs, NorAcrossLosses) {
  const Outcome outcome = resumed("--loss mse");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("its loss was huber and is now mse" + forgotten));
  EXPECT_NE(best(), before);
}

TEST_F(BestOfTwoLegs, NorAcrossUnitsAndAnotherScaleOfAnswersIsNamed) {
  directory.write("d.csv", line_csv(10));
  EXPECT_THAT(resumed("").err,
              AllOf(HasSubstr("its scale of answers was mean "), HasSubstr(forgotten)));
}

TEST_F(BestOfTwoLegs, AndOtherValuesForMissingOnesAreNamed) {
  EXPECT_THAT(resumed("--missing median").err, HasSubstr("its list of fill values was "));
}

TEST_F(BestOfTwoLegs, AreComparedWhereNothingHasChanged) {
  const Outcome outcome = resumed("");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_THAT(outcome.err, Not(HasSubstr(forgotten)));
  EXPECT_LE(best(), before);
}

TEST_F(ChangedFiles, NeitherWithOtherWeightsOfClassesAndAnotherLabelIsNamed) {
  std::string rows;
  for (int r = 0; r < 60; ++r)
    rows += std::to_string(r % 2) + "," + std::to_string(r) + "," + std::to_string(r % 2) + "\n";
  train_on(directory.write("d.csv", rows));
  const std::string resume = "train --resume " + out() + " --total-gradients 30 ";
  const Outcome other = dasgd(resume + "--class-weights balanced");
  EXPECT_EQ(other.status, 2);
  EXPECT_THAT(other.err, HasSubstr("its weighting of classes was all equal and is now balanced; "
                                   "that cannot change"));
  EXPECT_THAT(dasgd(resume + "--label 1").err, HasSubstr("its label column was 3 and is now 1"));
}

}  // namespace
}  // namespace dasgd::test
