#include <fstream>

#include "app/app.hpp"
#include "support/made_tables.hpp"
#include "support/tiny_idx.hpp"

namespace dasgd::test {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

class Predict : public App {
 protected:
  void train(const std::string& arguments) {
    const Outcome trained = dasgd("train " + arguments + " --no-report --quiet --out " + out());
    ASSERT_EQ(trained.status, 0) << trained.err;
  }
  /// What `predict` says of its own answers on standard error: the only number there.
  double score(const std::string& data) {
    const Outcome outcome = dasgd("predict " + out() + " " + data + " --out " + out("answers.csv"));
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_EQ(outcome.out, "");
    return std::stod(outcome.err.substr(outcome.err.find_first_of("0123456789")));
  }
  /// The share of answers that are the last field of the row.
  double share_right(const std::string& data) {
    const auto rows = lines_of(read_text(data)), answers = lines_of(read_text(out("answers.csv")));
    EXPECT_EQ(rows.size(), answers.size());
    double right = 0;
    for (std::size_t k = 1; k < rows.size(); ++k) {
      EXPECT_TRUE(answers[k].starts_with(std::to_string(k - 1) + ",")) << answers[k];
      const std::string label = rows[k].substr(rows[k].find(',', rows[k].rfind('.')) + 1);
      if (answers[k].find("," + label + ",") != std::string::npos) right += 1;
    }
    return right / static_cast<double>(rows.size() - 1);
  }

  const std::string table = directory.write("trees.csv", clusters_csv(600, 1));
  const std::string held = directory.write("held.csv", clusters_csv(200, 2));
};

TEST_F(Predict, AnswersOnRawRowsAreThoseOfTheRun) {
  for (const char* model : {"softmax", "softmax --scale none --lr 1e-7"}) {
    train(std::string("--model ") + model + " --data " + table + " --validation " + held);
    const double accuracy = summary()["accuracy"];
    EXPECT_EQ(summary()["evaluated_part"], "validation");
    EXPECT_NEAR(score(held), accuracy, 1e-6) << model;
    EXPECT_EQ(share_right(held), accuracy) << model;
    fs::remove_all(out());
  }
  EXPECT_EQ(lines_of(read_text(out("answers.csv"))).front(),
            "row,prediction,p_oak,\"p_pine, old\",p_yew");
}

TEST_F(Predict, LogisticAnswersToo) {
  std::string two, other;
  for (const auto& [text, salt] : {std::pair(&two, 1u), {&other, 2u}}) {
    *text = "a,b,y\n";
    Random chance(8, Purpose::test, salt);
    for (int i = 0; i < 400; ++i) {
      const double a = chance.normal(), b = chance.normal();
      *text += std::to_string(70 + 3 * a) + "," + std::to_string(-5 + b) + "," +
               (a + b + 0.3 * chance.normal() > 0 ? "yes" : "no") + "\n";
    }
  }
  const std::string file = directory.write("two.csv", two),
                    held_out = directory.write("o.csv", other);
  train("--model logistic --data " + file + " --validation " + held_out);
  const double accuracy = summary()["accuracy"];
  EXPECT_GT(accuracy, 0.85);
  EXPECT_NEAR(score(held_out), accuracy, 1e-6);
  EXPECT_EQ(lines_of(read_text(out("answers.csv"))).front(), "row,prediction,p_no,p_yes");
}

TEST_F(Predict, ImagesOfADirectoryAreAnsweredInTheirOrder) {
  const TemporaryDirectory images;
  write_tiny_idx(images);
  train("--model softmax --data " + images.path());
  const double accuracy = summary()["accuracy"];
  EXPECT_NEAR(score(images.path()), accuracy, 1e-6);
  EXPECT_EQ(lines_of(read_text(out("answers.csv"))).size(), 31u);
}

TEST_F(Predict, StandardInputJsonAndRowsWithoutALabel) {
  train("--model softmax --data " + table);
  const Outcome piped = shell("printf 'age,height,width\\n1000,1150,1000\\n1150,1000,1000\\n' | " +
                              command("predict " + out() + " - --json"));
  ASSERT_EQ(piped.status, 0) << piped.err;
  EXPECT_EQ(piped.err, "");
  const auto lines = lines_of(piped.out);
  ASSERT_EQ(lines.size(), 2u);
  const json first = json::parse(lines[0]), second = json::parse(lines[1]);
  EXPECT_EQ(first["row"], 0);
  EXPECT_EQ(first["prediction"], "oak");
  EXPECT_EQ(second["prediction"], "yew");
  EXPECT_NEAR(first["probabilities"]["oak"].get<double>() +
                  first["probabilities"]["pine, old"].get<double>() +
                  first["probabilities"]["yew"].get<double>(),
              1, 1e-9);
}

TEST_F(Predict, ComparesWithLabelsWhereThereAreSome) {
  train("--model softmax --data " + table);
  const auto lines = lines_of(read_text(table));
  std::string half = lines[0] + "\n", others = half;
  for (std::size_t k = 1; k < 21; ++k) {
    std::size_t end = 0;  // of the three inputs
    for (int comma = 0; comma < 3; ++comma) end = lines[k].find(',', end) + 1;
    half += (k % 2 == 0 ? lines[k] : lines[k].substr(0, end)) + "\n";
    others += lines[k].substr(0, end) + "maple\n";
  }
  const Outcome some = dasgd("predict " + out() + " " + directory.write("half.csv", half));
  EXPECT_THAT(some.err, HasSubstr(" on 10 rows with a label"));
  const Outcome none = dasgd("predict " + out() + " " + directory.write("others.csv", others));
  EXPECT_EQ(none.status, 0);
  EXPECT_THAT(none.err, AllOf(HasSubstr("no accuracy: "), HasSubstr("\"maple\"")));
}

TEST_F(Predict, RefusesInOneLine) {
  const std::string none = directory.file("none");
  expect_refusal("predict " + none + " " + table, none + ": does not exist");
  expect_refusal("predict " + directory.path() + " " + table, "has no model to predict with");
  expect_refusal("predict", "needs RUN_DIR|MODEL.pt");
  train("--model softmax --data " + table);
  const auto refusal = [&](const std::string& data) {
    const Outcome outcome = dasgd("predict " + out() + " " + data);
    EXPECT_EQ(outcome.status, 2);
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    return outcome.err;
  };
  EXPECT_THAT(refusal(none), HasSubstr("neither a known name nor a file"));
  EXPECT_THAT(refusal(directory.write("w.csv", "height,width\n1,2\n")), HasSubstr("has no column"));
  EXPECT_THAT(refusal(directory.write("x.csv", "height,width,age\n1,,2\n")),
              AllOf(HasSubstr("x.csv:2: column 2 is empty"),
                    HasSubstr("to allow it, give --missing mean to train")));
  for (const char* bad : {"nan", "inf"}) {
    const std::string rows = directory.file("rows.npy");
    shell(std::string("/usr/bin/python3 -c \"import numpy; numpy.save('") + rows +
          "', numpy.array([[1.0, 2, 3], [1, float('" + bad + "'), 3]]))\"");
    EXPECT_THAT(refusal(rows), HasSubstr("rows.npy: row 2, number 2 is ")) << bad;
    EXPECT_EQ(refusal(rows).find("give --missing mean to train") == std::string::npos,
              bad == std::string("inf"));
  }
}

TEST_F(Predict, AsksForTheColumnsThatWereNotExcluded) {
  std::string rows = "id,x,y,kind\n";
  for (int k = 0; k < 12; ++k) rows += std::to_string(k) + ",0,1,a\n9,1,0,b\n";
  const std::string whole = directory.write("t.csv", rows);
  train("--model softmax --exclude id --validation 0 --data " + whole);
  EXPECT_EQ(dasgd("predict " + out() + " " + whole).status, 0);
  EXPECT_EQ(dasgd("predict " + out() + " " + directory.write("q.csv", "y,x\n1,0\n")).status, 0);
  const std::string of_libsvm = directory.write("t.svm", "1 1:2\n");
  const Outcome none =
      dasgd("train --model softmax --exclude id --data " + of_libsvm + " --out " + out("none"));
  EXPECT_EQ(none.status, 2);
  EXPECT_THAT(none.err, HasSubstr("--exclude is for the columns of CSV files"));
}

TEST_F(Predict, ADeviceStaysOne) {
  train("--model softmax --data " + table);
  const std::string pipe = directory.file("pipe");
  ASSERT_EQ(shell("mkfifo " + pipe).status, 0);
  const Outcome read =
      shell("cat " + pipe + " & " + command("predict " + out() + " " + table + " --out " + pipe) +
            "; wait");
  EXPECT_THAT(read.out, HasSubstr("row,prediction"));
  EXPECT_TRUE(fs::is_fifo(pipe));
}

#if DASGD_TORCH

class PredictNetwork : public Predict {
 protected:
  double in_python(const std::string& model, const std::string& data) {
    const Outcome outcome = shell(
        "/usr/bin/python3 " DASGD_SOURCE_DIR "/tests/python/csv_accuracy.py " + model + " " + data);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    return outcome.out.empty() ? -1 : std::stod(outcome.out);
  }
};

TEST_F(PredictNetwork, ADamagedNetworkIsRefusedOrAnswersAsBefore) {
  train("--model mlp --data " + table + " --epochs 1");
  const std::string good = read_text(out() + "/model.pt");
  const std::string answers = dasgd("predict " + out() + "/model.pt " + held).out;
  ASSERT_NE(answers, "");
  int refused = 0;
  for (std::size_t k = 0; k < 12; ++k) {
    std::string bytes = good;
    bytes[bytes.size() * (2 * k + 1) / 24] ^= 0x10;
    const std::string file = directory.write("bad.pt", bytes);
    const Outcome outcome = dasgd("predict " + file + " " + held);
    if (outcome.status == 0) {  // between the files of the archive nothing counts
      EXPECT_EQ(outcome.out, answers) << k;
      continue;
    }
    ++refused;
    EXPECT_EQ(outcome.status, 2) << outcome.err;
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  }
  EXPECT_GT(refused, 3);
  for (const std::string& use : {"predict " + directory.file("bad.pt") + " " + held,
                                 "train --model " + directory.file("bad.pt") + " --data " + table +
                                     " --out " + out("again")}) {
    std::string weights = good;  // the largest file of the archive
    weights[weights.size() / 3] ^= 1;
    directory.write("bad.pt", weights);
    const Outcome outcome = dasgd(use);
    EXPECT_EQ(outcome.status, 2);
    EXPECT_THAT(
        outcome.err,
        HasSubstr("bad.pt: is damaged: its checksum does not match; copy or write it again"));
    EXPECT_FALSE(fs::exists(out("again")));
  }
}

TEST_F(PredictNetwork, TheRunPredictAndPythonAgreeToTheLastDigitOnRawRows) {
  train("--model mlp --data " + table + " --validation " + held + " --epochs 3");
  const double accuracy = summary()["accuracy"];
  EXPECT_GT(accuracy, 0.9);
  EXPECT_NEAR(score(held), accuracy, 1e-6);
  EXPECT_EQ(share_right(held), accuracy);
  EXPECT_EQ(in_python(out() + "/model.pt", held), accuracy);
  EXPECT_EQ(in_python(out() + "/model.best.pt", held), summary()["best_accuracy"].get<double>());
}

TEST_F(PredictNetwork, AModelThatTakesRawDataIsTrainedOn) {
  train("--model mlp --data " + table + " --validation " + held + " --epochs 3");
  const double accuracy = summary()["accuracy"];
  const std::string model = out("mine.pt");
  fs::copy_file(out() + "/model.pt", model);
  fs::remove_all(out());
  train("--model " + model + " --data " + table + " --validation " + held +
        " --gradients 1 --lr 1e-9");
  EXPECT_EQ(summary()["accuracy"], accuracy) << "it is scaled once";
  EXPECT_EQ(in_python(out() + "/model.pt", held), accuracy);
  EXPECT_NEAR(score(held), accuracy, 1e-6);
}

TEST_F(PredictNetwork, WhatAModelDoesToRawDataIsRepeatedButNotChanged) {
  const std::string rows = "train --model mlp --data " + table + " --epochs 1 --no-report --quiet ";
  ASSERT_EQ(dasgd(rows + "--exclude age --missing mean --out " + out("first")).status, 0);
  const auto again = [&](const std::string& more) {
    return dasgd("train --model " + out("first") + "/model.pt --data " + table + " --no-report " +
                 "--quiet --epochs 1 --out " + out() + " " + more);
  };
  const Outcome same = again("--label kind --exclude age --missing mean --scale standard");
  EXPECT_EQ(same.status, 0) << same.err;
  for (const auto& [more, what] :
       {std::pair("--scale none", "--scale none: "),
        {"--scale inputs", "with --scale standard"},
        {"--missing median", "with --missing mean; remove --missing"},
        {"--label width", "the model was trained on the label \"kind\"; remove --label"},
        {"--label nope", "has no column of that name"},
        {"--exclude nope", "has no column of that"},
        {"--exclude width", "the model takes the column \"width\" as an input"},
        {"--exclude kind", "the model takes the column \"kind\" as its label"}}) {
    const Outcome other = again(more);
    EXPECT_EQ(other.status, 2) << more;
    EXPECT_THAT(other.err, HasSubstr(what));
  }
}

TEST_F(PredictNetwork, NumbersAreAnsweredWithNumbersAndMissingOnesAreFilledIn) {
  std::string text = "a,b,y\n";
  Random chance(9, Purpose::test);
  for (int i = 0; i < 300; ++i) {
    const double a = chance.normal(), b = chance.normal();
    text += (i % 9 == 0 ? "NA" : std::to_string(a)) + "," + std::to_string(b) + "," +
            std::to_string(2 * b) + "\n";
  }
  const std::string file = directory.write("n.csv", text);
  train("--model mlp --loss mse --missing mean --data " + file + " --validation " + file);
  const double mse = summary()["parts"]["validation"]["mse"];
  EXPECT_NEAR(score(file), mse, 1e-4 * mse);
  EXPECT_EQ(lines_of(read_text(out("answers.csv"))).front(), "row,prediction");
}

/// Targets in units of their own: about 1000, with a variance of 34 and noise of 0.25.
std::string numbers_csv(std::size_t rows, std::uint32_t salt) {
  std::string text = "a,b,y\n";
  Random chance(9, Purpose::test, salt);
  for (std::size_t i = 0; i < rows; ++i) {
    const double a = chance.normal(), b = chance.normal();
    text += std::to_string(a) + "," + std::to_string(b) + "," +
            std::to_string(1000 + 5 * a - 3 * b + 0.5 * chance.normal()) + "\n";
  }
  return text;
}

class PredictNumbers : public PredictNetwork {
 protected:
  json validation() { return summary()["parts"]["validation"]; }
  json preprocessing() { return json::parse(read_text(out() + "/preprocessing.json")); }
  const std::string numbers = directory.write("numbers.csv", numbers_csv(600, 1));
  const std::string held_numbers = directory.write("held_numbers.csv", numbers_csv(200, 2));
  const std::string of_numbers =
      "--model mlp --loss mse --data " + numbers + " --validation " + held_numbers;
};

TEST_F(PredictNumbers, TargetsOfAnyUnitAreLearntAndAnsweredInTheirUnits) {
  train(of_numbers + " --epochs 10");
  const double mse = validation()["mse"], loss = validation()["loss"];
  const double deviation = preprocessing()["target"]["deviation"];
  EXPECT_LT(mse, 3.4);
  EXPECT_GT(validation()["r2"], 0.9);
  EXPECT_NEAR(preprocessing()["target"]["mean"], 1000, 1);
  EXPECT_NEAR(deviation * deviation, 34, 5);
  EXPECT_NEAR(loss * deviation * deviation, mse, 1e-9 * mse);
  EXPECT_EQ(summary()["eval_loss"], loss);
  EXPECT_NEAR(score(held_numbers), mse, 1e-3 * mse);
  const Outcome python =
      shell("/usr/bin/python3 " DASGD_SOURCE_DIR "/tests/python/csv_numbers.py " + out() +
            "/model.pt " + held_numbers + " " + out("answers.csv"));
  ASSERT_EQ(python.status, 0) << python.err;
  EXPECT_LT(std::stod(python.out), 1e-3);
}

TEST_F(PredictNumbers, AModelThatScalesItselfLearnsTargetsAsTheyAre) {
  train(of_numbers + " --epochs 10");
  const double mse = validation()["mse"];
  const std::string model = out("mine.pt");
  fs::copy_file(out() + "/model.pt", model);
  fs::remove_all(out());
  train("--model " + model + " --loss mse --data " + numbers + " --validation " + held_numbers +
        " --gradients 1 --lr 1e-12");
  EXPECT_EQ(validation()["mse"], validation()["loss"]);
  EXPECT_NEAR(validation()["mse"], mse, 1e-3 * mse);
  EXPECT_NEAR(score(held_numbers), mse, 1e-3 * mse);
}

TEST_F(PredictNumbers, OnlyInputsAreScaledWhereThatIsWanted) {
  train(of_numbers + " --gradients 2 --lr 1e-9 --scale inputs");
  EXPECT_FALSE(preprocessing().contains("target"));
  EXPECT_EQ(validation()["mse"], validation()["loss"]);
  EXPECT_GT(validation()["mse"], 1e5);
}

TEST_F(PredictNumbers, ARunGoesOnWithItsOwnTargets) {
  const auto resume = [&] {
    const Outcome outcome =
        dasgd("train --resume " + out() + " --gradients 10 --quiet --no-report");
    ASSERT_EQ(outcome.status, 0) << outcome.err;
  };
  train(of_numbers + " --gradients 20");
  const json before = preprocessing();
  resume();
  EXPECT_EQ(preprocessing(), before);
  EXPECT_LT(validation()["loss"], validation()["mse"]);
  fs::remove_all(out());

  train(of_numbers + " --gradients 20 --lr 1e-9 --scale inputs");
  json earlier = preprocessing();  // as versions wrote it that left all targets alone
  earlier["scale"] = "standard";
  directory.write("run/preprocessing.json", earlier.dump());
  std::string config = read_text(out() + "/config.toml");
  const std::string line = "scale = \"inputs\"\n";
  ASSERT_NE(config.find(line), std::string::npos) << config;
  directory.write("run/config.toml", config.erase(config.find(line), line.size()));
  for (int leg = 2; leg <= 3; ++leg) {
    resume();
    EXPECT_EQ(summary()["resumed"]["leg"], leg);
    EXPECT_FALSE(preprocessing().contains("target"));
    EXPECT_EQ(validation()["mse"], validation()["loss"]);
  }
}

TEST_F(PredictNetwork, AFileOfTorchSaveGetsAHint) {
  const std::string saved = directory.file("saved.pt");
  ASSERT_EQ(shell("/usr/bin/python3 -c 'import torch; torch.save(torch.nn.Linear(3, 3), \"" +
                  saved + "\")'")
                .status,
            0);
  for (const std::string& command :
       {"train --model " + saved + " --data " + table, "predict " + saved + " " + table}) {
    const Outcome outcome = dasgd(command);
    EXPECT_EQ(outcome.status, 2);
    EXPECT_THAT(outcome.err,
                AllOf(HasSubstr("is a file of torch.save"), HasSubstr("torch.jit.script")));
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  }
}

#endif

}  // namespace
}  // namespace dasgd::test
