// Tables as people have them: texts, dates, gaps, decimal commas; and files that are not tables.
#include <fmt/format.h>
#include <random>
#include <sstream>

#include "app/app.hpp"
#include "support/made_pictures.hpp"

namespace dasgd::test {
namespace {

class Tables : public App {
 protected:
  /// Whether somebody buys: by the city, the day of the week, their age and whether they have an
  /// account. Some fields are missing.
  std::string shop(int rows, unsigned seed = 1) {
    const std::vector<std::string> cities{"Ulm", "Bonn", "Trier", "Kiel"};
    std::mt19937 random(seed);
    const auto draw = [&](unsigned most) { return random() % most; };
    std::string text = "customer,city,visited,age,account,buys\n";
    for (int r = 0; r < rows; ++r) {
      const unsigned city = draw(4), day = 1 + draw(28), age = 20 + draw(50);
      const bool account = draw(2) == 1, weekend = day % 7 < 2;  // January 2000 began on a Saturday
      const double score =
          (city == 0 ? 2 : -1) + (weekend ? 1.5 : -0.5) + (account ? 1 : -1) + 0.02 * age - 1;
      text +=
          fmt::format("c{:05},{},2000-01-{:02},{},{},{}\n", r, draw(20) == 0 ? "" : cities[city],
                      day, draw(20) == 0 ? "NA" : std::to_string(age), account ? "yes" : "no",
                      score > 0 ? "yes" : "no");
    }
    return text;
  }
  json train_on(const std::string& arguments) {
    const Outcome outcome = dasgd("train " + arguments + " --no-report --quiet --out " + out());
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    return outcome.status == 0 ? summary() : json();
  }
};

TEST_F(Tables, TextsDatesAndGapsTrainAndPredictWithTheFirstCommand) {
  const std::string file = directory.write("shop.csv", shop(2000));
  const json s = train_on("--data " + file);
  EXPECT_GT(s["accuracy"], 0.78);  // 0.68 without the texts
  const json about = json::parse(read_text(out() + "/preprocessing.json"));
  ASSERT_EQ(about["encoding"].size(), 5u);
  EXPECT_EQ(about["encoding"][0]["kind"], "left out");
  EXPECT_EQ(about["encoding"][1]["kind"], "category");
  EXPECT_EQ(about["encoding"][2]["kind"], "date");
  EXPECT_EQ(about["encoding"][4]["kind"], "boolean");
  const std::string later = directory.write(
      "later.csv", "age,city,visited,account\n30,Ulm,2000-01-01,yes\n,Paris,2000-02-03,no\n");
  const Outcome asked = dasgd("predict " + out() + " " + later);
  EXPECT_EQ(asked.status, 0) << asked.err;
  EXPECT_THAT(asked.out, HasSubstr("row,prediction,p_no,p_yes\n0,yes,"));
  EXPECT_THAT(asked.err, HasSubstr("1 row has a city that is not in the training data"));
}

TEST_F(Tables, GermanDecimalsTrainALinearModel) {
  std::mt19937 random(3);
  std::string text = "Fläche;Ort;Miete\n";
  for (int r = 0; r < 600; ++r) {
    const unsigned size = 20 + random() % 100;
    const bool town = random() % 2 == 0;
    text += fmt::format("{},5;{};{},{:02}\n", size, town ? "Ulm" : "Land",
                        8 * size + (town ? 200 : 0), random() % 100);
  }
  const std::string file = directory.write("miete.csv", text);
  const json s = train_on("--model linear --epochs 30 --data " + file);
  EXPECT_GT(s["parts"]["validation"]["r2"], 0.99);
  const std::string later = directory.write("neu.csv", "Ort;Fläche\nUlm;50,5\nLand;50,5\n");
  const Outcome asked = dasgd("predict " + out() + " " + later);
  EXPECT_EQ(asked.status, 0) << asked.err;
  std::istringstream lines(asked.out);
  std::string header, first, second;
  std::getline(lines, header);
  std::getline(lines, first);
  std::getline(lines, second);
  EXPECT_EQ(header, "row,prediction");
  EXPECT_NEAR(std::stod(first.substr(2)) - std::stod(second.substr(2)), 200, 30);
}

TEST_F(Tables, DescribeReportsAllProblemsAtOnce) {
  std::string text = "id,note,price,label,x\n";
  for (int r = 1; r <= 60; ++r)
    text += fmt::format("{},n{},{},{},\n", r, r % 3, r, r % 2 == 0 ? "a" : "b");
  text += "61,n1,soon,a,\n62,n1\n";
  const Outcome outcome = dasgd("data describe " + directory.write("t.csv", text));
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(
      outcome.out,
      AllOf(HasSubstr("61 rows, 5 columns separated by commas"), HasSubstr("3 categories"),
            HasSubstr("label looks like one: --label label"),
            HasSubstr("1 lines have more or fewer columns"), HasSubstr("\"soon\" in line 62")));
}

TEST_F(Tables, DescribeReportsEveryFieldThatTrainingRefuses) {
  std::string text = "x,when,paid,mixed,label\n";
  for (int r = 0; r < 60; ++r)
    text += fmt::format("{}.5,2024-05-{:02},{},{},a\n", r, 1 + r % 28, r % 2 == 0 ? "yes" : "no",
                        r % 2 == 0 ? "2024-05-31" : "31.05.2024");
  text += "inf,31.05.2024,maybe,2024-05-30,a\n";
  const std::string path = directory.write("t.csv", text);
  const Outcome outcome = dasgd("data describe " + path);
  EXPECT_THAT(outcome.out,
              AllOf(HasSubstr("\"inf\" in line 62"), HasSubstr("\"31.05.2024\" in line 62"),
                    HasSubstr("\"maybe\" in line 62"), HasSubstr("dates in several forms"),
                    HasSubstr("all labels are the same")));
  expect_refusal("train --data " + path + " --exclude x,when,paid --out " + out(),
                 "all labels are \"a\"");
}

TEST_F(Tables, CommasThatMayStandBetweenThousandsAreRefused) {
  const auto table = [&](char separator, const char* small) {
    std::string text = fmt::format("price{}label\n", separator);
    for (int r = 0; r < 60; ++r)
      text += r % 2 ? fmt::format("\"1,{}\"{}a\n", 200 + r, separator)
                    : fmt::format("{}{}b\n", small, separator);
    return directory.write("t.csv", text);
  };
  const std::string more = " --epochs 1 --workers 1 --no-report --out " + out();
  expect_refusal(
      "train --data " + table(',', "375") + more,
      "column \"price\": \"1,201\" may have a comma between thousands or a decimal comma; "
      "write 1201 for the one");
  expect_refusal("train --data " + table('\t', "375") + more, "may have a comma between thousands");
  EXPECT_EQ(dasgd("train --data " + table(',', "\"0,5\"") + more).status, 0) << "a decimal comma";
  EXPECT_EQ(dasgd("train --data " + table(';', "375") + more + "2").status, 0);
}

TEST_F(Tables, WhatIsLostOnTheWayIsSaid) {
  std::string gaps = "x,label\n", narrow = "x,label\n";
  for (int r = 0; r < 60; ++r) {
    gaps += fmt::format("{},{}\n", r * 0.37, r % 3 == 0 ? "" : r % 2 ? "a" : "b");
    narrow += fmt::format("{},{}\n", 1'700'000'000 + 3 * r, r % 2 ? "a" : "b");
  }
  const auto said = [&](const std::string& text, const std::string& more) {
    return dasgd("train --data " + directory.write("t.csv", text) +
                 " --epochs 1 --workers 1 --no-report --out " + out(more) + " " + more)
        .err;
  };
  EXPECT_THAT(said(gaps, "--missing=drop"), HasSubstr("20 rows with missing values are left out"));
  EXPECT_THAT(said(narrow, "--batch=8"),
              HasSubstr("x is rounded to multiples of 128: subtract 1.7e+09 from it first"));
}

TEST_F(Tables, AnEmptyLastColumnWithoutANameIsLeftOut) {
  for (const std::string header : {"x,kind,\n", ""}) {
    std::string plain = header.substr(0, header.empty() ? 0 : header.size() - 2) + "\n",
                text = header;
    for (int r = 0; r < 60; ++r) {
      const std::string row = fmt::format("{},{}", r * 0.37, r % 2 ? "a" : "b");
      plain += row + "\n";
      text += row + ", \r\n";
    }
    const std::string path = directory.write("t.csv", text);
    EXPECT_THAT(dasgd("data describe " + path).out,
                AllOf(HasSubstr("60 rows, 2 columns separated by commas; the empty last column is "
                                "left out"),
                      HasSubstr("2 classes")));
    const std::string train = " --epochs 1 --workers 1 --no-report --out " + out() + " --data ";
    const Outcome trained = dasgd("train" + train + path);
    EXPECT_EQ(trained.status, 0) << trained.err;
    EXPECT_THAT(trained.err, HasSubstr("has neither a name nor values and is left out"));
    const Outcome asked = dasgd("predict " + out() + " " + path);
    EXPECT_EQ(asked.status, 0) << asked.err;
    EXPECT_EQ(asked.out, dasgd("predict " + out() + " " + directory.write("p.csv", plain)).out);
  }
}

TEST_F(Tables, AFirstLineOfNumbersIsSaidToBeARow) {
  std::string years = "2019,2020,2021,kind\n", rows;
  for (int r = 0; r < 60; ++r) rows += fmt::format("{},{},7,{}\n", r, r * 0.37, r % 2 ? "a" : "b");
  const std::string path = directory.write("t.csv", years + rows);
  const std::string advice = "put a letter before each number";
  EXPECT_THAT(dasgd("data describe " + path).out,
              AllOf(HasSubstr("  header     none: "), HasSubstr(advice)));
  const std::string train = "train --epochs 1 --workers 1 --no-report --out " + out() + " --data ";
  EXPECT_THAT(dasgd(train + path).err,
              AllOf(HasSubstr("\"2021\", \"kind\") is taken as a row; "), HasSubstr(advice)));
  EXPECT_THAT(dasgd(train + directory.write("r.csv", rows)).err, Not(HasSubstr(advice)));
  EXPECT_THAT(dasgd("data describe " + directory.write("n.csv", "a,b,c,d\n" + rows)).out,
              HasSubstr("  header     the first line\n"));
}

TEST_F(Tables, DescribeReportsWhatTrainingWouldMakeOfIt) {
  const auto described = [&](const std::string& text) {
    return dasgd("data describe " + directory.write("t.csv", text)).out;
  };
  std::string prices = "price,cost,share,x,label\n", names = "x,name\n";
  for (int r = 0; r < 60; ++r) {
    prices += fmt::format("\"{},{:03}\",${}.50,{}%,{},{}\n", 1 + r, 7 * r, r, r, r * 0.37,
                          r % 2 ? "a" : "b");
    names += fmt::format("{},n{}\n", r * 0.5, r);
  }
  EXPECT_THAT(described(prices), AllOf(HasSubstr("column price may have commas between thousands"),
                                       HasSubstr("column cost looks like numbers with separators"),
                                       HasSubstr("column share looks like numbers")));
  std::string ids = "id,x,label\n";
  for (int r = 0; r < 60; ++r) ids += fmt::format("p{},{},{}\n", r, r * 0.37, r % 2 ? "a" : "b");
  EXPECT_THAT(described(ids), Not(HasSubstr("looks like numbers")));
  EXPECT_THAT(described("x,label\n1.5,a\n"), HasSubstr("t.csv: 1 row, 2 columns"));
  EXPECT_THAT(described(names), HasSubstr("a class has fewer than 2 rows on average"));
  EXPECT_THAT(described("x,label\n1.5,a\n2.5,b\n"), HasSubstr("at least 20 rows"));
  EXPECT_THAT(described("x|label\n1|a\n2|b\n"),
              HasSubstr("separated by commas, semicolons or tabs"));
}

TEST_F(Tables, AnUnknownColumnIsAnsweredWithThoseThereAre) {
  const std::string path = directory.write("t.csv", "city,day,fail\na,1,0\nb,2,1\n");
  const std::string run = "train --data " + path + " --out " + out();
  for (const char* option : {"--label", "--exclude"}) {
    expect_refusal(run + " " + option + " zzz",
                   "t.csv has no column of that name; its columns are \"city\", \"day\", \"fail\"");
    expect_refusal(run + " " + option + " dya", "did you mean \"day\"?");
  }
}

TEST_F(Tables, TextsOfOtherEncodingsAreRefused) {
  std::string text = "x,colour,label\n";
  for (int r = 0; r < 40; ++r)
    text += fmt::format("{}.5,{},{}\n", r, r % 2 ? "gr\xfcn" : "rot", r % 3 ? "a" : "b");
  expect_refusal("train --data " + directory.write("latin.csv", text) + " --out " + out(),
                 "column \"colour\" has a text that is not UTF-8");
  text = "x,label\n";
  for (int r = 0; r < 40; ++r) text += fmt::format("{}.5,{}\n", r, r % 2 ? "gr\xfcn" : "rot");
  expect_refusal("train --data " + directory.write("label.csv", text) + " --out " + out(),
                 "column \"label\" has a text that is not UTF-8");
  expect_refusal("train --data " + directory.write("wide.csv", "\xff\xfex,y\n") + " --out " + out(),
                 "is UTF-16");
}

TEST_F(Tables, LineBreaksInsideQuotesAreRefusedByName) {
  std::string text = "x,note,label\n";
  for (int r = 0; r < 40; ++r) text += fmt::format("{}.5,\"one\ntwo\",{}\n", r, r % 2 ? "a" : "b");
  const std::string path = directory.write("t.csv", text);
  expect_refusal("train --data " + path + " --out " + out(),
                 "line breaks inside quotes are not supported");
  EXPECT_THAT(dasgd("data describe " + path).out, HasSubstr("line breaks inside quotes"));
}

TEST_F(Tables, LabelsAndLossesThatDoNotMatchAreReported) {
  std::string numbers = "x,y\n", texts = "x,y\n";
  for (int r = 0; r < 40; ++r) {
    numbers += fmt::format("{},{}.5\n", r, r);
    texts += fmt::format("{},{}\n", r, r % 2 == 0 ? "a" : "b");
  }
  const std::string of_numbers = directory.write("n.csv", numbers),
                    of_texts = directory.write("t.csv", texts);
  expect_refusal("train --model softmax --data " + of_numbers + " --out " + out(),
                 "--model linear");
  expect_refusal("train --model linear --data " + of_texts + " --out " + out(), "--model softmax");
  expect_refusal(
      "train --model linear --loss cross-entropy --data " + of_numbers + " --out " + out(),
      "use --loss mse or huber");
}

TEST_F(Tables, FilesOfOtherKindsGetAHint) {
  const std::pair<const char*, std::string> files[] = {{"a.parquet", "PAR1xxxx"},
                                                       {"b.xlsx", "PK\x03\x04xxxx"},
                                                       {"c.csv", "PAR1xxxx"},
                                                       {"d.gz", "\x1f\x8bxxxx"}};
  const char* advice[] = {"to_csv", "save the sheet as CSV", "to_csv", "gunzip"};
  for (std::size_t k = 0; k < 4; ++k) {
    const std::string path = directory.write(files[k].first, files[k].second);
    expect_refusal("train --model softmax --data " + path + " --out " + out(), advice[k]);
    const Outcome described = dasgd("data describe " + path);
    EXPECT_EQ(described.status, 2);
    EXPECT_THAT(described.err, HasSubstr(advice[k]));
  }
  write_png(directory.file("one.png"), 4, 4, 1, std::vector<std::uint8_t>(16));
  expect_refusal("train --model softmax --data " + directory.file("one.png") + " --out " + out(),
                 "a folder of pictures for each class");
}

TEST_F(Tables, PredictAnswersAboutOnePictureOrAFolderWithFileNames) {
  write_picture_folders(directory.path() + "/train", 30);
  train_on("--model softmax --resize 8x9 --batch 8 --epochs 10 --data " + directory.path() +
           "/train");
  const fs::path one = fs::directory_iterator(directory.path() + "/train/dark")->path();
  const Outcome single = dasgd("predict " + out() + " " + one.string());
  EXPECT_EQ(single.status, 0) << single.err;
  EXPECT_THAT(single.out, AllOf(HasSubstr("row,prediction,p_dark,p_light,file\n"),
                                HasSubstr("," + one.filename().string() + "\n")));
  const Outcome folder = dasgd("predict " + out() + " " + directory.path() + "/train/dark --json");
  EXPECT_EQ(folder.status, 0) << folder.err;
  EXPECT_THAT(folder.out, HasSubstr("\"file\":\"" + one.filename().string() + "\""));
}

TEST_F(Tables, TheWorstErrorsAreKeptWithTheirRows) {
  const std::string file = directory.write("shop.csv", shop(600));
  train_on("--model softmax --data " + file);
  const json worst = json::parse(read_text(out() + "/worst.json"));
  ASSERT_FALSE(worst["samples"].empty());
  const json& first = worst["samples"][0];
  EXPECT_NE(first["label"], first["answer"]);
  EXPECT_TRUE(first["values"].contains("city"));
  EXPECT_LE(first["probability"], 0.5);
  EXPECT_EQ(first["values"]["visited"].get<std::string>().substr(0, 8), "2000-01-");
}

}  // namespace
}  // namespace dasgd::test
