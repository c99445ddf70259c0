#include <fmt/format.h>
#include <sstream>

#include "app/app.hpp"
#include "support/made_tables.hpp"
#include "support/tiny_idx.hpp"

namespace dasgd::test {
namespace {

class HeldOutData : public App {
 protected:
  json trained(const std::string& arguments) {
    const Outcome outcome =
        dasgd("train --workers 1 " + arguments + " --no-report --quiet --out " + out());
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    return summary();
  }
  std::vector<json> metrics() {
    std::vector<json> lines;
    std::istringstream in(read_text(out() + "/metrics.jsonl"));
    for (std::string line; std::getline(in, line);) lines.push_back(json::parse(line));
    return lines;
  }
};

// More numbers than rows: every labelling of the training rows can be learned by heart, and of
// nothing else.
TEST_F(HeldOutData, NoTrainingRowIsAmongThoseThatJudge) {
  const std::string noise = directory.write("noise.csv", noise_csv(120, 300, true));
  for (const char* model : {"softmax", "logistic --batch 8 --gradients 2000"}) {
    const json s = trained(std::string("--model ") + model + " --data " + noise +
                           " --validation 0.4 --epochs 200 --lr 0.1");
    EXPECT_LT(s["loss"], 0.1) << "learned by heart";
    EXPECT_EQ(s["evaluated_part"], "validation");
    EXPECT_EQ(s["parts"]["train"]["samples"], 72);
    EXPECT_EQ(s["parts"]["validation"]["samples"], 48);
    EXPECT_LT(s["accuracy"], 0.75) << "the rows that judge were learned from";
    EXPECT_GT(s["eval_loss"], 5 * s["loss"].get<double>());
    fs::remove_all(out());
  }
}

TEST_F(HeldOutData, TheSummaryNamesThePartOfEachFigure) {
  const std::string table = directory.write("t.csv", clusters_csv(100, 1));
  const std::string run = "train --model softmax --epochs 2 --no-report --data " + table;
  const std::string figures = "loss +[0-9.e-]+ \\(training\\), accuracy [0-9.]+ \\(validation\\)";
  EXPECT_THAT(dasgd(run + " --validation 0.2 --out " + out()).out, ContainsRegex(figures));
  EXPECT_THAT(dasgd("report --text " + out()).out, HasSubstr(" (validation)\n"));
  EXPECT_THAT(dasgd(run + " --validation 0 --out " + out("all")).out,
              ContainsRegex("loss +[0-9.e-]+, accuracy [0-9.]+\n"));
}

TEST_F(HeldOutData, TheSummaryHasALineForATestPart) {
  const std::string table = directory.write("t.csv", clusters_csv(100, 1));
  const std::string test = directory.write("test.csv", clusters_csv(90, 2));
  const std::string run = "train --model softmax --epochs 2 --no-report --data " + table;
  const Outcome tested = dasgd(run + " --test " + test + " --out " + out());
  const json part = summary()["parts"]["test"];
  EXPECT_THAT(tested.out,
              HasSubstr(fmt::format("  test       loss {:.6g}, accuracy {:.4f}\n",
                                    part["loss"].get<double>(), part["accuracy"].get<double>())));
  EXPECT_THAT(dasgd(run + " --out " + out("none")).out, Not(HasSubstr("  test  ")));
}

TEST_F(HeldOutData, FiguresOfAllPartsAreThereAndAddUp) {
  const std::string table = directory.write("t.csv", clusters_csv(400, 1));
  const std::string test = directory.write("test.csv", clusters_csv(90, 2));
  const json s = trained("--model softmax --data " + table + " --validation 0.25 --test " + test);
  const json& parts = s["parts"];
  EXPECT_EQ(parts["train"]["samples"], 300);
  EXPECT_EQ(parts["train"]["loss"], s["loss"]);
  EXPECT_EQ(parts["validation"]["accuracy"], s["accuracy"]);
  EXPECT_EQ(parts["validation"]["loss"], s["eval_loss"]);
  EXPECT_EQ(parts["test"]["from"], test);
  EXPECT_EQ(s["evaluated_model"], "worker 0");
  for (const char* part : {"validation", "test"}) {
    int all = 0, right = 0, of_classes = 0;
    const json& table_of = parts[part]["confusion"];
    for (std::size_t i = 0; i < 3; ++i) {
      of_classes += parts[part]["classes"][i]["samples"].get<int>();
      right += table_of[i][i].get<int>();
      for (std::size_t j = 0; j < 3; ++j) all += table_of[i][j].get<int>();
    }
    EXPECT_EQ(all, parts[part]["samples"]);
    EXPECT_EQ(of_classes, all);
    EXPECT_DOUBLE_EQ(static_cast<double>(right) / all, parts[part]["accuracy"].get<double>());
    EXPECT_EQ(parts[part]["classes"][1]["class"], "pine, old");
  }
}

TEST_F(HeldOutData, ImagesKeepTheirTestSetForTheEndWhereAShareJudges) {
  const TemporaryDirectory images;
  write_tiny_idx(images);
  json s = trained("--model softmax --data " + images.path());
  EXPECT_EQ(s["parts"]["validation"]["samples"], 30);
  EXPECT_FALSE(s["parts"].contains("test"));
  fs::remove_all(out());
  s = trained("--model softmax --validation 0.2 --data " + images.path());
  EXPECT_EQ(s["parts"]["train"]["samples"], 72);
  EXPECT_EQ(s["parts"]["validation"]["samples"], 18);
  EXPECT_EQ(s["parts"]["test"]["samples"], 30);
}

TEST_F(HeldOutData, LibsvmRowsOfLogisticAllTrainUnlessAShareIsAskedFor) {
  std::string rows;
  for (int i = 0; i < 50; ++i) rows += i % 2 ? "+1 1:1 2:0.5\n" : "-1 1:-1\n";
  const std::string file = directory.write("rows", rows);
  json s = trained("--model logistic --data " + file);
  EXPECT_EQ(s["evaluated_part"], "train");
  EXPECT_EQ(s["parts"]["train"]["samples"], 50);
  EXPECT_EQ(s["parts"]["train"]["accuracy"], 1.0);
  fs::remove_all(out());
  s = trained("--model logistic --validation 0.2 --data " + file);
  EXPECT_EQ(s["evaluated_part"], "validation");
  EXPECT_EQ(s["parts"]["validation"]["samples"], 10);
}

TEST_F(HeldOutData, TheLossOfTheCurveKeepsItsMeaningInTheLastLine) {
  const std::string noise = directory.write("noise.csv", noise_csv(120, 300, true));
  const json s = trained("--model softmax --data " + noise +
                         " --validation 0.4 --epochs 3 --batch 1 --lr 0.1");
  const json last = metrics().back();
  EXPECT_EQ(last["train_loss"], s["loss"]);
  EXPECT_NE(last["loss"], s["loss"]) << "it is that of mini-batches, also here";
  EXPECT_EQ(last["eval_loss"], s["eval_loss"]);
}

TEST_F(HeldOutData, PatienceAndTargetsLookAtTheValidationPart) {
  const std::string noise = directory.write("noise.csv", noise_csv(120, 300, true));
  json s = trained("--model softmax --data " + noise +
                   " --validation 0.4 --epochs 1000000 --lr 0.1 --eval-every 10ms --patience 5 "
                   "--max-time 60s");
  EXPECT_EQ(s["stop_reason"], "patience") << "the training loss falls without end";
  fs::remove_all(out());
  const std::string table = directory.write("t.csv", clusters_csv(400, 1));
  s = trained("--model softmax --data " + table +
              " --epochs 1000000 --eval-every 5ms --target-eval-loss 0.5 --max-time 60s");
  EXPECT_EQ(s["stop_reason"], "target-eval-loss");
}

TEST_F(HeldOutData, ClassWeightsMakeARareClassCount) {
  std::string text = "x,y\n";
  Random chance(3, Purpose::test);
  for (int i = 0; i < 1000; ++i) {
    const bool rare = i % 20 == 0;
    text += std::to_string(chance.normal() + (rare ? 1.5 : 0)) + (rare ? ",rare\n" : ",usual\n");
  }
  const std::string file = directory.write("rare.csv", text);
  const auto recall = [&](const std::string& more) {
    const json s = trained("--model softmax --validation " + file + " --data " + file + " " + more);
    fs::remove_all(out());
    return s["parts"]["validation"]["classes"][0]["recall"].get<double>();
  };
  const double plain = recall("--epochs 30"),
               balanced = recall("--epochs 30 --class-weights balanced");
  EXPECT_LT(plain, 0.4);
  EXPECT_GT(balanced, 0.6);
  EXPECT_EQ(recall("--epochs 30 --class-weights rare:10,usual:0.526316") > 0.6, true);
  expect_refusal("train --class-weights rare:2,rare:3 --data " + file + " --out " + out(),
                 "the class \"rare\" is given twice");
  expect_refusal("train --model softmax --class-weights none:2 --data " + file + " --out " + out(),
                 "there is no class \"none\"");
}

TEST_F(HeldOutData, RefusesPartsThatCannotBe) {
  const std::string table = directory.write("t.csv", clusters_csv(40, 1));
  const std::string train = "train --model softmax --data " + table + " --out " + out() + " ";
  expect_refusal(train + "--validation 1.5", "--validation 1.5: a share is from 0 to 1");
  expect_refusal(train + "--validation 0.001", "cannot be split by --validation");
  expect_refusal(train + "--validation " + directory.file("none.csv"), "none.csv");
  expect_refusal(train + "--test " + directory.write("u.csv", "height,width,age,kind\n1,2,3,elm\n"),
                 "u.csv: row 1 has label \"elm\", which is not one of the 3 classes");
  expect_refusal(train + "--label colour", "--label colour");
  expect_refusal(train + "--scale big", "--scale");
  expect_refusal("train --model quadratic --validation 0.1 --out " + out(), "--validation");
}

}  // namespace
}  // namespace dasgd::test
