#include "dasgd/data/stream/row_stream.hpp"

#include <chrono>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <semaphore>

#include "dasgd/core/error.hpp"
#include "support/pipe.hpp"
#include "support/temporary_directory.hpp"

namespace dasgd {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Waits until the source has something else than nothing.
class Patient {
 public:
  Patient(RowWindow& window, std::size_t batch) : window_(window), source_(window, batch) {
    source_.on_arrival([this] { bell_.release(); });
  }
  /// The labels of the next batch; none at the end.
  std::vector<double> labels() {
    Draw draw = source_.next();
    for (; draw.kind == Draw::Kind::none_now; draw = source_.next()) bell_.acquire();
    std::vector<double> result;
    for (const std::uint32_t r : draw.rows) result.push_back(window_[r].label);
    return result;
  }

 private:
  RowWindow& window_;
  WindowSource source_;
  std::counting_semaphore<> bell_{0};
};

struct Streams : ::testing::Test {
  RowStream open(std::unique_ptr<RowLabels> labels, RowStream::Options options = {}) {
    return {LineInput::read(Descriptor(pipe.reading_end()), "pipe"), options, std::move(labels)};
  }
  test::Pipe pipe;
  test::TemporaryDirectory directory;
};

TEST_F(Streams, ARunMayBeginWhileTheStreamIsOpen) {
  RowStream stream = open(sign_labels());
  pipe.write("1,2,0\n");
  const auto shape = stream.shape({});
  ASSERT_TRUE(shape);
  EXPECT_EQ(shape->features, 2u);
  EXPECT_EQ(stream.window().kept().size(), 1u);
  Patient source(stream.window(), 2);
  pipe.write("3,4,1\n5,");
  EXPECT_THAT(source.labels(), ElementsAre(-1, 1));
  pipe.write("6,1");  // the last line needs no end
  pipe.close();
  EXPECT_THAT(source.labels(), ElementsAre(1));
  EXPECT_THAT(source.labels(), ElementsAre());
}

TEST_F(Streams, OneOfSeveralReadersLearnsFromItsOwnRowsAndKeepsAll) {
  RowStream stream = open(class_labels(9), {.part = 1, .parts = 3});
  pipe.write("1,0\n1,1\n1,2\n1,3\n1,4\n1,5\n1,6\n1,7\n");
  pipe.close();
  ASSERT_TRUE(stream.shape({}));
  Patient source(stream.window(), 2);
  EXPECT_THAT(source.labels(), ElementsAre(1, 4));
  EXPECT_THAT(source.labels(), ElementsAre(7));
  EXPECT_THAT(source.labels(), ElementsAre());
  EXPECT_EQ(stream.window().kept().size(), 8u);
}

TEST_F(Streams, TheFirstRowsDecideFeaturesAndClasses) {
  RowStream stream = open(class_labels({}));
  pipe.write("0 1:1\n3 5:2\n\n1 2:1\n");
  pipe.close();
  const auto shape = stream.shape({});
  ASSERT_TRUE(shape);
  EXPECT_EQ(shape->features, 5u);
  EXPECT_EQ(shape->classes, 4u);
}

TEST_F(Streams, AThousandRowsAreEnoughToDecide) {
  RowStream stream = open(class_labels({}));
  for (int k = 0; k < 1000; ++k) pipe.write(std::to_string(k % 3) + " 2:1\n");
  const auto shape = stream.shape({});
  ASSERT_TRUE(shape);
  EXPECT_EQ(shape->classes, 3u);
  Patient source(stream.window(), 1000);
  EXPECT_EQ(source.labels().size(), 1000u);
  pipe.write("3 1:1\n");
  try {
    source.labels();
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("pipe:1001: class 3 is beyond the 3 classes"));
  }
}

TEST_F(Streams, AMistakeAmongTheFirstRowsIsReportedAtOnce) {
  RowStream stream = open(class_labels({}));
  pipe.write("1,2,0\n1,oh,0\n");
  try {
    stream.shape({});
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("pipe:2: "));
  }
}

TEST_F(Streams, AnEmptyOneHoldsNoRows) {
  RowStream stream = open(sign_labels());
  pipe.write("\n\n");
  pipe.close();
  EXPECT_THROW(stream.shape({}), InputError);
}

TEST_F(Streams, WaitingForADryOneEndsWhenAsked) {
  RowStream stream = open(sign_labels());
  std::stop_source stop;
  stop.request_stop();
  EXPECT_FALSE(stream.shape(stop.get_token()));
  EXPECT_FALSE(stream.shape({}, 1ns));
}  // and so does the thread that reads

TEST_F(Streams, LinesThatAreAppendedToAFileArrive) {
  const std::string path = directory.write("rows", "0 1:1\n1 3:1\n");
  RowStream stream(LineInput::follow(path), {}, sign_labels());
  const auto shape = stream.shape({});
  ASSERT_TRUE(shape);
  EXPECT_EQ(shape->features, 3u);
  Patient source(stream.window(), 2);
  EXPECT_THAT(source.labels(), ElementsAre(-1, 1));
  std::ofstream file(path, std::ios::app);
  file << "1 1:1\n0 2" << std::flush;
  file << ":1\n" << std::flush;
  EXPECT_THAT(source.labels(), ElementsAre(1, -1));
  std::filesystem::resize_file(path, 3);
  EXPECT_THROW(source.labels(), InputError);
}

TEST_F(Streams, WhatCannotBeFollowedIsSaid) {
  EXPECT_THROW(LineInput::follow(directory.file("nothing")), InputError);
  RowStream stream(LineInput::follow(directory.path()), {}, sign_labels());
  EXPECT_THROW(stream.shape({}), InputError);
}

}  // namespace
}  // namespace dasgd
