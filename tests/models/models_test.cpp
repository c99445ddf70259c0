// From names to problems.
#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "dasgd/core/error.hpp"
#include "dasgd/models/description/image_sheet.hpp"
#include "dasgd/models/network_problem.hpp"
#include "dasgd/models/predict.hpp"
#include "dasgd/models/problem.hpp"
#include "dasgd/models/stream.hpp"
#include "support/message.hpp"
#include "support/temporary_directory.hpp"
#include "support/tiny_idx.hpp"

namespace dasgd {
namespace {

using test::message_of;
using test::TemporaryDirectory;
using ::testing::AllOf;
using ::testing::HasSubstr;

std::string refusal(const ProblemChoice& choice) {
  return message_of<InputError>([&] { make_problem(choice, 1); });
}

TEST(Models, AnUnknownOneIsRefusedWithTheNearest) {
  EXPECT_EQ(message_of<InputError>([] { require_known_model("quadratik"); }),
            "unknown model \"quadratik\"; did you mean \"quadratic\"?");
  EXPECT_EQ(message_of<InputError>([] { require_known_model("cn"); }),
            "unknown model \"cn\"; did you mean \"cnn\"?");
  EXPECT_NE(message_of<InputError>([] { require_known_model(""); }), "");
  EXPECT_THAT(message_of<InputError>([] { require_known_model("/no/such/model.pt"); }),
              HasSubstr("is not a file"));
  for (const char* name : {"quadratic", "logistic", "softmax"}) {
    EXPECT_NO_THROW(require_known_model(name));
    EXPECT_FALSE(is_network(name));
  }
  for (const std::string& name : network_names()) {
    EXPECT_NO_THROW(require_known_model(name));
    EXPECT_TRUE(is_network(name));
  }
}

TEST(Models, ChoicesOfNetworksAreRefusedForOthers) {
  const auto refused = [](const ProblemChoice& choice) {
    return message_of<InputError>([&] { require_network_choices(choice); });
  };
  EXPECT_EQ(refused({.model = "softmax", .loss = NetworkLoss::cross_entropy}),
            "`loss` applies to networks and `model` linear only; softmax is not one");
  EXPECT_EQ(refused({.model = "quadratic", .device = NetworkDevice::cpu}),
            "`device` applies to networks only; quadratic is not one");
  EXPECT_EQ(refused({.model = "logistic", .augment = Augmentation{}}),
            "`augment` applies to networks only; logistic is not one");
  EXPECT_EQ(refused({.model = "softmax"}), "");
  EXPECT_EQ(refused({.model = "cnn", .loss = NetworkLoss::mean_squared_error}), "");
}

TEST(Models, WordsOfNetworksReadBack) {
  for (const auto loss : {NetworkLoss::cross_entropy, NetworkLoss::mean_squared_error})
    EXPECT_EQ(parse_loss(to_string(loss)), loss);
  for (const auto device : {NetworkDevice::cpu, NetworkDevice::cuda})
    EXPECT_EQ(parse_device(to_string(device)), device);
  for (const std::string text : {"", "flip", "crop", "flip,crop"})
    EXPECT_EQ(to_string(parse_augmentation(text)), text);
  EXPECT_EQ(to_string(parse_augmentation("crop,flip")), "flip,crop");
  EXPECT_THROW(parse_loss("hinge"), InputError);
  EXPECT_THROW(parse_device("tpu"), InputError);
  EXPECT_EQ(message_of<InputError>([] { parse_augmentation("flip,spin"); }),
            "\"spin\" is neither flip nor crop");
}

TEST(Models, WithoutDataThePapersInstanceIsDrawnFromTheSeed) {
  for (const char* model : {"quadratic", "logistic"}) {
    const auto gradient = [&](std::uint64_t seed) {
      const Problem problem = make_problem({.model = model}, seed);
      const auto& objective = *std::get<std::unique_ptr<Objective<double>>>(problem);
      std::vector<double> g(objective.dimension());
      const std::vector<double> x(objective.dimension(), 0.1);
      objective.full_gradient(x, g);
      return g;
    };
    EXPECT_EQ(gradient(3), gradient(3)) << model;
    EXPECT_NE(gradient(3), gradient(4)) << model;
  }
}

TEST(Models, DataOfAnotherKindIsRefusedWithWhatIsNeeded) {
  const TemporaryDirectory directory;
  EXPECT_EQ(refusal({.model = "quadratic", .data = directory.path()}),
            directory.path() +
                ": is a directory; the model quadratic needs a JSON instance {\"A\", \"b\"}");
  EXPECT_THAT(refusal({.model = "logistic", .data = directory.path()}),
              HasSubstr(directory.path() + ": has no train-images"));
  const std::string file = directory.write("x.svm", "1 1:2\n");
  EXPECT_EQ(refusal({.model = "softmax", .data = file}),
            file + ": has 1 rows; at least 20 are needed");
}

TEST(Models, SoftmaxLearnsImagesOfADirectory) {
  const TemporaryDirectory images;
  test::write_tiny_idx(images);
  const Problem problem = make_problem({.model = "softmax", .data = images.path()}, 1);
  ASSERT_TRUE(std::holds_alternative<std::unique_ptr<Objective<float>>>(problem));
  EXPECT_EQ(std::get<0>(problem)->samples(), 90u);
}

/// Rows of three numbers, the last of which is a label.
ArrayPair array_of(const std::vector<float>& numbers) {
  const auto kept = std::make_shared<const std::vector<float>>(numbers);
  const NpyHeader header{.shape = {numbers.size() / 3, 3}};
  return {NpyArray(header, reinterpret_cast<const char*>(kept->data()), kept, "t")};
}

std::vector<float> forty_rows() {
  std::vector<float> numbers;
  for (int r = 0; r < 40; ++r)
    numbers.insert(numbers.end(),
                   {static_cast<float>(r), static_cast<float>(r % 7), static_cast<float>(r % 2)});
  return numbers;
}

TEST(Models, MissingNumbersOfArraysAreRefusedInEveryPart) {
  for (std::size_t row = 0; row < 40; ++row) {
    std::vector<float> numbers = forty_rows();
    numbers[3 * row + 1] = NAN;
    const std::string where = "t: row " + std::to_string(row + 1) + ", number 2 is missing";
    ProblemChoice choice{.model = "softmax", .data = "train"};
    choice.arrays.emplace("train", array_of(numbers));
    EXPECT_THAT(refusal(choice), HasSubstr(where));
    choice.arrays.clear();
    choice.arrays.emplace("train", array_of(forty_rows()));
    choice.arrays.emplace("held", array_of(numbers));
    for (const auto part : {&DataChoice::validation, &DataChoice::test}) {
      choice.reading = {};
      choice.reading.*part = "held";
      EXPECT_THAT(refusal(choice), HasSubstr(where));
      choice.reading.missing = Missing::mean;
      EXPECT_EQ(refusal(choice), "");
    }
  }
}

TEST(Models, HeldOutRowsWithoutALabelAreDroppedWhereThatIsWanted) {
  const TemporaryDirectory directory;
  std::string text = "a,y\n";
  for (int r = 0; r < 40; ++r) text += std::to_string(r) + "," + "uv"[r % 2] + "\n";
  ProblemChoice choice{.model = "softmax", .data = directory.write("t.csv", text)};
  choice.reading.validation = directory.write("v.csv", "a,y\n1,u\n2,\n3,v\n");
  choice.reading.test = choice.reading.validation;
  EXPECT_THAT(refusal(choice), HasSubstr("v.csv:3: column 2 is empty; `missing` drop leaves"));
  choice.reading.missing = Missing::drop;
  EXPECT_EQ(refusal(choice), "");
}

TEST(Models, WhoIsAskedNeedsNoLabels) {
  Preprocessing model;
  model.shape = {2};
  model.label_at = 2;
  model.missing = Missing::drop;
  const NamedArrays arrays{{"t", array_of({1, 2, NAN, 3, NAN, 1, 5, 6, NAN})}};
  EXPECT_THAT(read_for(model, "t", &arrays).numbers, ::testing::ElementsAre(0, 2));
}

TEST(ImageSheet, ShowsTheFirstImagesTenInARow) {
  RawData data{.path = "x", .shape = {1, 2, 3}};
  std::vector<float> numbers;
  for (int k = 0; k < 12 * 6; ++k) numbers.push_back(static_cast<float>(k) / 71);  // 0 to 1
  data.inputs = std::make_shared<FloatRows>(numbers, 6);
  const auto [picture, images] = first_images(data);
  EXPECT_EQ(images, 12u);
  EXPECT_EQ(picture.width, 10u * 4 - 1);
  EXPECT_EQ(picture.height, 2u * 3 - 1);
  EXPECT_EQ(picture.pixels[0], 0);
  EXPECT_EQ(picture.pixels[3], 128) << "between two images";
  EXPECT_EQ(picture.pixels[4 * picture.width + 6], 255) << "the last pixel of the last image";
  EXPECT_EQ(first_images(data, 3).picture.width, 3u * 4 - 1);
}

TEST(Models, AStreamIsADashOrAFileThatGrows) {
  EXPECT_TRUE(is_stream("-"));
  EXPECT_TRUE(is_stream("follow:rows.csv"));
  EXPECT_FALSE(is_stream("rows.csv"));
  EXPECT_FALSE(is_stream(""));
  for (const std::string data : {"-", "follow:rows.csv"})
    EXPECT_EQ(refusal({.model = "logistic", .data = data}),
              "`data` " + data + ": streams are for the command dasgd train");
}

}  // namespace
}  // namespace dasgd
