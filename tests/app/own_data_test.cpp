#include <random>
#include <set>
#include <sstream>

#include "app/app.hpp"
#include "support/made_pictures.hpp"
#include "support/made_tables.hpp"

namespace dasgd::test {
namespace {

class OwnData : public App {
 protected:
  json trained(const std::string& arguments) {
    const Outcome outcome = dasgd("train " + arguments + " --no-report --quiet --out " + out());
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    return outcome.status == 0 ? summary() : json();
  }
  double predicted(const std::string& data) {
    const Outcome outcome = dasgd("predict " + out() + " " + data + " --out " + out("answers.csv"));
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    return std::stod(outcome.err.substr(outcome.err.find_first_of("0123456789")));
  }
  Outcome python(const std::string& script, const std::string& arguments) {
    return shell("/usr/bin/python3 " DASGD_SOURCE_DIR "/tests/python/" + script + " " + arguments);
  }
  void write_arrays() {
    const Outcome made = python("make_arrays.py", directory.path());
    ASSERT_EQ(made.status, 0) << made.err;
  }
  std::string file(const std::string& name) { return directory.file(name); }
};

TEST_F(OwnData, ArraysOfEveryLayoutTrainTheSameModel) {
  write_arrays();
  json first;
  for (const std::string& data : {file("table.npy"), file("x.npy") + "," + file("y.npy"),
                                  file("both.npz"), file("packed.npz"), file("table.csv")}) {
    const json s =
        trained("--workers 1 --model softmax --epochs 20 --validation 0.2 --data " + data);
    if (first.is_null()) first = s;
    EXPECT_GT(s["accuracy"], 0.8) << data;
    EXPECT_EQ(s["loss"], first["loss"]) << data;
    EXPECT_EQ(s["accuracy"], first["accuracy"]) << data;
    fs::remove_all(out());
  }
}

TEST_F(OwnData, AnArchiveMayBringItsTestPartAndNamesAsLabels) {
  write_arrays();
  const json s = trained("--model softmax --data " + file("keras.npz"));
  EXPECT_EQ(s["parts"]["validation"]["samples"], 60);
  EXPECT_EQ(s["parts"]["validation"]["classes"][0]["class"], "ash");
  EXPECT_NEAR(predicted(file("keras.npz")), s["accuracy"].get<double>(), 1e-6);
}

TEST_F(OwnData, PicturesInFoldersAreBroughtToOneSize) {
  write_picture_folders(directory.path() + "/train", 60);
  write_picture_folders(directory.path() + "/later", 20, 5);
  const std::string data = directory.path() + "/train", later = directory.path() + "/later";
  expect_refusal("train --model softmax --data " + data + " --out " + out(), "--resize HxW");
  const json s =
      trained("--model softmax --resize 8x9 --scale standard --batch 8 --epochs 20 --data " + data +
              " --validation " + later);
  EXPECT_GT(s["accuracy"], 0.9);
  EXPECT_EQ(s["parts"]["validation"]["samples"], 40);
  EXPECT_NEAR(predicted(later), s["accuracy"].get<double>(), 1e-6);
  const json about = json::parse(read_text(out() + "/preprocessing.json"));
  EXPECT_EQ(about["shape"], json({3, 8, 9}));
  EXPECT_EQ(about["classes"], json({"dark", "light"}));
}

TEST_F(OwnData, DescribeSaysWhatIsUnderstood) {
  const std::string table = directory.write("t.csv", "height,age,kind\n1,2,oak\n3,,yew\n5,4,oak\n");
  const Outcome csv = dasgd("data describe " + table);
  ASSERT_EQ(csv.status, 0) << csv.err;
  EXPECT_THAT(csv.out,
              AllOf(HasSubstr("t.csv: 3 rows, 3 columns"), HasSubstr("height"),
                    HasSubstr("missing    1 number\n"), HasSubstr("2 classes (column kind)"),
                    HasSubstr("oak"), HasSubstr("yew")));
  write_picture_folders(directory.path() + "/pictures", 3);
  const Outcome pictures = dasgd("data describe --resize 8 " + directory.path() + "/pictures");
  EXPECT_THAT(pictures.out, AllOf(HasSubstr("6 images"), HasSubstr("8 x 8 pixels, 3 channels"),
                                  HasSubstr("dark")));
  const Outcome drawn = dasgd("data describe --resize 8 --picture " + directory.file("first.png") +
                              " " + directory.path() + "/pictures");
  EXPECT_THAT(drawn.out, HasSubstr("the first 6, ten in a row: " + directory.file("first.png")));
  EXPECT_TRUE(read_text(directory.file("first.png")).starts_with("\x89PNG"));
  const Outcome rows = dasgd("data describe --picture " + directory.file("rows.png") + " " + table);
  EXPECT_EQ(rows.status, 2);
  EXPECT_THAT(rows.err, HasSubstr("t.csv holds rows of numbers"));
  const Outcome none = dasgd("data describe " + directory.file("none"));
  EXPECT_EQ(none.status, 2);
  EXPECT_THAT(none.err, HasSubstr("neither a known name nor a file"));
}

TEST_F(OwnData, BinaryFilesAreRefusedWithoutTheirBytes) {
  std::string bytes;
  for (int i = 0; i < 5000; ++i) bytes += static_cast<char>(i * 37);
  for (const char* name : {"b.csv", "b.npy", "b.npz", "b", "b.tsv"}) {
    const std::string path = directory.write(name, bytes);
    for (const std::string& command :
         {"train --model softmax --data " + path + " --out " + out(), "data describe " + path}) {
      const Outcome outcome = dasgd(command);
      EXPECT_EQ(outcome.status, 2) << command;
      EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
      EXPECT_TRUE(std::all_of(outcome.err.begin(), outcome.err.end(), [](char c) {
        return c == '\n' || (c >= ' ' && c <= '~');
      })) << command;
    }
  }
}

#if DASGD_TORCH

TEST_F(OwnData, TheRunPredictAndPythonAgreeOnRawArrays) {
  write_arrays();
  const std::string pair = file("x.npy") + "," + file("y.npy");
  const json s = trained("--model mlp --data " + pair + " --validation " + pair);
  EXPECT_NEAR(predicted(pair), s["accuracy"].get<double>(), 1e-6);
  const Outcome back =
      python("npy_accuracy.py", out() + "/model.pt " + file("x.npy") + " " + file("y.npy"));
  ASSERT_EQ(back.status, 0) << back.err;
  EXPECT_EQ(std::stod(back.out), s["accuracy"].get<double>());
}

TEST_F(OwnData, TheRunPredictAndPythonAgreeOnImagesThatMissPixels) {
  write_arrays();
  const std::string pair = file("images.npy") + "," + file("y.npy");
  for (const std::string missing : {"mean", "median", "most-frequent"}) {
    const json s = trained("--model mlp --epochs 3 --missing " + missing + " --data " + pair +
                           " --validation " + pair);
    EXPECT_LT(s["accuracy"], 1) << "mistakes show that the same ones are made";
    EXPECT_NEAR(predicted(pair), s["accuracy"].get<double>(), 1e-6) << missing;
    const Outcome back =
        python("npy_accuracy.py", out() + "/model.pt " + file("images.npy") + " " + file("y.npy"));
    ASSERT_EQ(back.status, 0) << back.err;
    EXPECT_EQ(std::stod(back.out), s["accuracy"].get<double>()) << missing;
    fs::remove_all(out());
  }
}

TEST_F(OwnData, TheRunPredictAndPythonAgreeOnRawPictures) {
  const std::string data = directory.path() + "/noise";
  std::mt19937 random(7);
  for (const std::string kind : {"dark", "light"}) {
    fs::create_directories(data + "/" + kind);
    for (int i = 0; i < 60; ++i) {
      std::vector<std::uint8_t> pixels(3 * 6 * 7);
      for (std::uint8_t& p : pixels)
        p = static_cast<std::uint8_t>((kind == "dark" ? 100 : 103) + random() % 60);
      write_png(data + "/" + kind + "/" + std::to_string(100 + i) + ".png", 6, 7, 3, pixels);
    }
  }
  const json s = trained("--model mlp --epochs 3 --data " + data + " --validation " + data);
  EXPECT_LT(s["accuracy"], 1) << "mistakes show that the same ones are made";
  EXPECT_NEAR(predicted(data), s["accuracy"].get<double>(), 1e-6);
  const Outcome back = python("pictures_accuracy.py", out() + "/model.pt " + data);
  ASSERT_EQ(back.status, 0) << back.err;
  EXPECT_EQ(std::stod(back.out), s["accuracy"].get<double>());
}

TEST_F(OwnData, NetworksLearnPicturesInFolders) {
  write_picture_folders(directory.path() + "/train", 40);
  const std::string data = directory.path() + "/train";
  const json s =
      trained("--model mlp --resize 10 --epochs 15 --data " + data + " --validation " + data);
  EXPECT_GT(s["accuracy"], 0.9);
  EXPECT_NEAR(predicted(data), s["accuracy"].get<double>(), 1e-6);

  const json samples = json::parse(read_text(out() + "/samples.json"));
  ASSERT_EQ(samples.size(), 24u);
  std::istringstream answers(read_text(out("answers.csv")));
  std::vector<std::string> lines;
  for (std::string line; std::getline(answers, line);) lines.push_back(line);
  lines.erase(lines.begin());  // the header
  std::set<std::string> labels;
  for (std::size_t k = 0; k < samples.size(); ++k) {
    const std::string& line = lines.at(k * lines.size() / samples.size());
    EXPECT_THAT(line, HasSubstr("," + samples[k]["answer"].get<std::string>() + ","));
    labels.insert(samples[k]["label"]);
    EXPECT_EQ(samples[k]["picture"].get<std::string>().substr(0, 11), "iVBORw0KGgo");  // a PNG
  }
  EXPECT_EQ(labels.size(), 2u) << "of every folder";
}

#endif

TEST_F(App, DevicesAndPipesWithoutAKnownKindAreNoData) {
  for (const char* device : {"/dev/zero", "/dev/urandom", "/dev/null", "/dev/tty"})
    for (const char* model : {"softmax", "logistic", "quadratic"})
      expect_refusal(
          std::string("train --model ") + model + " --data " + device + " --out " + out(),
          std::string(device) + ": is a device, not a file");
  const std::string pipe = directory.file("pipe");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  expect_refusal("train --model softmax --data " + pipe + " --out " + out(),
                 "pipe: is a pipe of unknown format: end its name in .csv, .tsv or .txt, or use "
                 "--data - for rows as they arrive");
}

}  // namespace
}  // namespace dasgd::test
