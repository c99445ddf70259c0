#include <algorithm>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support/process.hpp"
#include "support/temporary_directory.hpp"
#include "support/tiny_images.hpp"

namespace dasgd::test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;

class NetworkApp : public ::testing::Test {
 protected:
  Outcome dasgd(const std::string& arguments) {
    return shell("env CUDA_VISIBLE_DEVICES= DASGD_DATA=" + data.path() + " " DASGD_BINARY " " +
                 arguments);
  }
  Outcome python(const std::string& script, const std::string& arguments) {
    return shell("/usr/bin/python3 " DASGD_SOURCE_DIR "/tests/python/" + script + " " + arguments);
  }
  std::string out() { return directory.file("run"); }
  json summary() { return json::parse(read_text(out() + "/summary.json")); }
  void write_cifar10(std::size_t per_file) {
    fs::create_directory(data.file("cifar10"));
    const TemporaryDirectory files;
    write_tiny_cifar10(files, per_file);
    for (const auto& file : fs::directory_iterator(files.path()))
      fs::copy(file.path(), data.file("cifar10"));
  }
  /// One line on standard error that says `what`, the status, no run directory.
  void expect_failure(const std::string& arguments, int status, const std::string& what) {
    const Outcome outcome = dasgd(arguments + " --quiet --out " + out());
    EXPECT_EQ(outcome.status, status) << arguments;
    EXPECT_THAT(outcome.err, HasSubstr(what)) << arguments;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    EXPECT_EQ(outcome.out, "");
    EXPECT_FALSE(fs::exists(out())) << arguments;
  }

  Outcome train_within(int kilobytes, const std::string& arguments) {
    return shell(
        "sh -c 'ulimit -v " + std::to_string(kilobytes) +
        "; exec env OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 MALLOC_ARENA_MAX=1 DASGD_DATA=" +
        data.path() + " timeout -k 10 250 " DASGD_BINARY " train " + arguments +
        " --data cifar10 --workers 1 --gradients 1 --quiet --out " + out() + "'");
  }
  void expect_out_of_memory(const Outcome& outcome, const std::string& what) {
    EXPECT_EQ(outcome.status, 1) << what;
    EXPECT_THAT(outcome.err, HasSubstr("dasgd: out of memory; use fewer workers")) << what;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  }

  TemporaryDirectory directory, data;
};

TEST_F(NetworkApp, AnArchiveOfCifar10ThatIsWrongLeavesNothingBehind) {
  const std::string cut = directory.write("cut.tgz", "this is no archive");
  const Outcome broken = dasgd("data get cifar10 --from " + cut);
  EXPECT_EQ(broken.status, 1);
  EXPECT_THAT(broken.err, HasSubstr("cut.tgz: is not a whole archive"));
  const TemporaryDirectory files;
  write_tiny_cifar10(files, 10);
  const std::string other = directory.file("other.tgz");
  shell("tar -czf " + other + " -C " + fs::path(files.path()).parent_path().string() + " " +
        fs::path(files.path()).filename().string());
  const Outcome wrong = dasgd("data get cifar10 --from " + other);
  EXPECT_EQ(wrong.status, 1);
  EXPECT_THAT(wrong.err, AllOf(HasSubstr("data_batch_1.bin has SHA-1"),
                               HasSubstr("aadd24acce27caa71bf4b10992e9e7b2d74c2540")));
  EXPECT_TRUE(fs::is_empty(data.file("cifar10")));
  EXPECT_THAT(dasgd("data get cifar10 --from " + directory.file("none.tgz")).err,
              HasSubstr("none.tgz: is not a file"));
  EXPECT_THAT(dasgd("data list").out, HasSubstr("cifar10"));
}

TEST_F(NetworkApp, AModuleThatCannotBeUsedIsOneLineAndTheRestWorksWithoutIt) {
  const std::string alone = directory.file("dasgd"), module = directory.file("dasgd_networks.so");
  fs::copy_file(DASGD_BINARY, alone);
  const auto refusal = [&] {
    const Outcome outcome = shell(alone + " train --model cnn --data fashion-mnist --out " + out());
    EXPECT_EQ(outcome.status, 2);
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    EXPECT_FALSE(fs::exists(out()));
    return outcome.err;
  };
  EXPECT_THAT(refusal(), AllOf(HasSubstr("there is no " + module), HasSubstr("libtorch-dev")));
  directory.write("dasgd_networks.so", "not a library");
  EXPECT_THAT(refusal(), AllOf(HasSubstr("does not load"), HasSubstr(module)));
  fs::copy_file(DASGD_ANOTHER_BUILD, module, fs::copy_options::overwrite_existing);
  EXPECT_THAT(refusal(), HasSubstr("another build of dasgd (0.0.1 of long ago; this one is"));
  EXPECT_EQ(shell(alone + " train --model quadratic --gradients 5 --lr 0.02 --out " + out()).status,
            0);
}

#if DASGD_TORCH

TEST_F(NetworkApp, ANetworkFromPythonTrainsAndGoesBackWithTheSameAccuracy) {
  const std::string exported = directory.file("model.pt");
  const Outcome made = python("export_mlp.py", exported);
  ASSERT_EQ(made.status, 0) << made.err;
  const std::string bytes = read_text(exported);
  const Outcome refused = dasgd("train --model " + exported +
                                " --data fashion-mnist --quiet --out " + directory.path());
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, HasSubstr("has files that do not belong to a run"));
  EXPECT_EQ(read_text(exported), bytes) << "the model of a person is not ours to replace";
  const Outcome trained = dasgd("train --model " + exported +
                                " --data fashion-mnist --workers 2 --epochs 0.3 --out " + out());
  ASSERT_EQ(trained.status, 0) << trained.err;
  EXPECT_THAT(trained.err, HasSubstr("computed by LibTorch"));
  const double accuracy = summary()["accuracy"];
  EXPECT_GT(accuracy, 0.75);
  EXPECT_EQ(summary()["replicas_identical"], true);
  const Outcome back = python("accuracy.py", out() + "/model.pt /usr/share/datasets/fashion-mnist");
  ASSERT_EQ(back.status, 0) << back.err;
  EXPECT_EQ(std::stod(back.out), accuracy) << "on raw pixels";
}

TEST_F(NetworkApp, ABuiltInNetworkOpensInPython) {
  const Outcome trained =
      dasgd("train --model mlp --data fashion-mnist --workers 2 --epochs 0.3 --out " + out());
  ASSERT_EQ(trained.status, 0) << trained.err;
  const Outcome back = python("accuracy.py", out() + "/model.pt /usr/share/datasets/fashion-mnist");
  ASSERT_EQ(back.status, 0) << back.err;
  EXPECT_EQ(std::stod(back.out), summary()["accuracy"].get<double>()) << "on raw pixels";
}

TEST_F(NetworkApp, TrainsTheCnnOnCifar10WithAugmentation) {
  write_cifar10(40);
  const Outcome trained = dasgd(
      "train --model cnn --data cifar10 --augment flip,crop --workers 2 --gradients 4 --batch 8 "
      "--out " +
      out());
  EXPECT_EQ(trained.status, 0) << trained.err;
  EXPECT_THAT(trained.err, HasSubstr("cnn: 122570 parameters"));
  EXPECT_THAT(read_text(out() + "/config.toml"), HasSubstr("augment = \"flip,crop\""));
}

TEST_F(NetworkApp, TrainsOnRowsOfNumbers) {
  std::string table;
  for (int i = 0; i < 200; ++i)
    table += std::to_string(i % 7) + "," + std::to_string(i % 5) + "," +
             std::to_string(i % 7 > 3 ? 1 : 0) + "\n";
  const Outcome trained = dasgd("train --model mlp --data " + directory.write("t.csv", table) +
                                " --epochs 20 --batch 10 --out " + out());
  EXPECT_EQ(trained.status, 0) << trained.err;
  EXPECT_EQ(summary()["accuracy"], 1.0);
}

TEST_F(NetworkApp, RefusesWhatCannotBe) {
  expect_failure(
      "train --model " + directory.write("text.pt", "not a network") + " --data fashion-mnist", 2,
      "text.pt: is not a TorchScript file");
  expect_failure("train --model " + directory.file("none.pt") + " --data fashion-mnist", 2,
                 "none.pt: is not a file");
  expect_failure("train --model cnn --device cuda", 2, "--device cuda");
  expect_failure("train --model cnn --device tpu", 2, "--device tpu: must be cpu or cuda");
  expect_failure("train --model cnn --loss hinge", 2, "--loss hinge: must be");
  expect_failure("train --model cnn --augment spin", 2, "\"spin\" is neither flip nor crop");
  expect_failure("train --model quadratic --augment flip", 2, "--augment applies to networks only");
  expect_failure("train --model cnn --precision fp8", 2, "must be fp32, tf32 or bf16");
  expect_failure("train --model cnn --precision bf16", 2, "--precision needs --device cuda");
  expect_failure("train --model cnn --no-graph", 2, "--no-graph needs --device cuda");
  expect_failure("train --model softmax --channels-last", 2,
                 "--channels-last applies to networks only");
  expect_failure("train --model gpt --gpt 10:2:3", 2, "a multiple of the number of heads");
  expect_failure("train --model gpt --gpt tiny", 2, "must be small, medium or WIDTH:DEPTH:HEADS");
  expect_failure("train --model mlp --gpt small", 2, "--gpt is the shape of --model gpt");
  expect_failure("train --model gpt --data fashion-mnist --gpt 8:1:1", 2, "needs a text");
  expect_failure("train --model char-transformer", 2, "needs --data");
  expect_failure("train --model char-transformer --data fashion-mnist", 2, "needs a text");
  expect_failure("train --model resnet18 --data cifar10", 2, "dasgd data get cifar10");
}

TEST_F(NetworkApp, RefusesABrokenCifar10) {
  write_cifar10(20);
  std::string labels = read_text(data.file("cifar10/data_batch_3.bin"));
  labels[3073] = 10;
  data.write("cifar10/data_batch_3.bin", labels);
  expect_failure("train --model cnn --data cifar10", 2, "data_batch_3.bin: record 1 has label 10");
  fs::resize_file(data.file("cifar10/data_batch_2.bin"), 12345);
  expect_failure("train --model cnn --data cifar10", 2, "data_batch_2.bin: is truncated");
}

TEST_F(NetworkApp, RefusesANetworkForSamplesOfAnotherShape) {
  write_cifar10(20);
  const std::string exported = directory.file("exported.pt");  // for 28 x 28 pixels
  ASSERT_EQ(python("export_mlp.py", exported).status, 0);
  expect_failure("train --model " + exported + " --data cifar10", 2,
                 "exported.pt: does not fit samples of 3 x 32 x 32 with 10 classes: ");
}

TEST_F(NetworkApp, OutOfMemoryIsOneLineWhereverItIsMet) {
  write_cifar10(1000);
  // A batch that does not fit, a network that does not, and LibTorch itself.
  expect_out_of_memory(train_within(1'000'000, "--model cnn --batch 5000"), "batch");
  expect_out_of_memory(train_within(600'000, "--model resnet18"), "network");
  expect_out_of_memory(train_within(100'000, "--model cnn"), "LibTorch");
}

// Where exactly memory ends depends on the machine: in a destructor, while a library starts, in the
// middle of a gradient.
TEST_F(NetworkApp, OutOfMemoryNeverEndsInAnAbort) {
  write_cifar10(4);
  for (const int kilobytes : {300'000, 550'000, 650'000, 720'000}) {
    const Outcome outcome = train_within(kilobytes, "--model resnet18");
    if (outcome.status == 0) continue;
    EXPECT_EQ(outcome.status, 1) << kilobytes;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    EXPECT_THAT(outcome.err, AnyOf(HasSubstr("dasgd: out of memory; use fewer workers"),
                                   HasSubstr("worker threads could be started")));
  }
}

#else

TEST_F(NetworkApp, WithoutLibTorchNetworksAreRefusedInOneLine) {
  expect_failure("train --model cnn", 2, "needs LibTorch");
  const std::string file = directory.path() + "/some.pt";
  std::ofstream(file) << "a network";
  expect_failure("train --model " + file + " --data fashion-mnist", 2, "libtorch-dev");
}

#endif

}  // namespace
}  // namespace dasgd::test
