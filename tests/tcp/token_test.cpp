#include "dasgd/transport/tcp/tls/token.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dasgd/base/files/atomic_file.hpp"
#include "dasgd/base/input_error.hpp"
#include "support/message.hpp"
#include "support/temporary_directory.hpp"

namespace dasgd::tcp {
namespace {

using test::message_of;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

std::string refusal(const std::string& text) {
  return message_of<InputError>([&] { Token::parse(text); });
}

TEST(TokenTest, IsReadAsItWasWritten) {
  std::set<std::string> texts;
  for (int i = 0; i < 50; ++i) {
    const Token token = Token::random();
    EXPECT_EQ(Token::parse(token.text()), token);
    texts.insert(token.text());
  }
  EXPECT_EQ(texts.size(), 50u);
}

TEST(TokenTest, CapitalsAndBlanksAroundItDoNotMatter) {
  const Token token = Token::random();
  std::string loud = token.text();
  for (char& c : loud) c = static_cast<char>(std::toupper(c));
  EXPECT_EQ(Token::parse("  " + loud + "\r\n"), token);
}

TEST(TokenTest, AnyChangedOrSwappedDigitIsFound) {
  const std::string text = Token::random().text();
  for (std::size_t i = std::string("dasgd1-").size(); i < text.size(); ++i) {
    std::string changed = text;
    changed[i] = changed[i] == 'a' ? 'b' : 'a';
    EXPECT_THAT(refusal(changed), HasSubstr("check digits")) << i;
    std::string swapped = text;
    if (i + 1 == text.size() || text[i] == text[i + 1]) continue;
    std::swap(swapped[i], swapped[i + 1]);
    EXPECT_THAT(refusal(swapped), HasSubstr("check digits")) << i;
  }
}

TEST(TokenTest, RefusalsAreOneLineAndDoNotRepeatIt) {
  const std::string text = Token::random().text(), digits = text.substr(7, 40);
  for (const std::string& bad :
       {std::string(), std::string("hello"), digits, text.substr(0, 30), text + "a",
        "dasgd1-" + std::string(56, '1'), text.substr(0, 20) + "\n" + text.substr(21),
        std::string("dasgd2-") + text.substr(7)}) {
    EXPECT_NE(refusal(bad), "");
    EXPECT_THAT(refusal(bad), Not(HasSubstr("\n")));
    EXPECT_THAT(refusal(bad), Not(HasSubstr(text.substr(7, 10))));
  }
}

// Other files are of no interest to anybody.
TEST(TokenTest, OnlyAFileWithATokenIsSaidToBeReadable) {
  const test::TemporaryDirectory directory;
  int warnings = 0;
  const auto read = [&](const std::string& text) {
    const std::string file = directory.write("token", text);
    std::filesystem::permissions(file, std::filesystem::perms(0644));
    return Token::from_file_or_environment(file, [&](const std::string&) { ++warnings; });
  };
  EXPECT_THAT(test::message_of<InputError>([&] { read("model = 1\n"); }),
              HasSubstr("token: not a token; a token begins with dasgd1-"));
  EXPECT_EQ(warnings, 0);
  read(Token::random().text());
  EXPECT_EQ(warnings, 1);
}

TEST(TokenTest, TheIdOfTheRunAndSecretsAreDerivedAndDiffer) {
  const Token token = Token::random(), other = Token::random();
  EXPECT_EQ(Token::parse(token.text()).run_id(), token.run_id());
  EXPECT_NE(token.run_id(), other.run_id());
  EXPECT_NE(token.secret("a"), token.secret("b"));
  EXPECT_NE(token.secret("a"), other.secret("a"));
}

class TokenFile : public ::testing::Test {
 protected:
  Token read() {
    return Token::from_file_or_environment(path, [&](const std::string& w) { warning = w; });
  }
  test::TemporaryDirectory directory;
  std::string path = directory.file("token");
  std::string warning;
};

TEST_F(TokenFile, IsForItsOwnerAlone) {
  const Token token = Token::random();
  write_token(path, token);
  struct stat about {};
  ASSERT_EQ(::stat(path.c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0777, 0600u);
  EXPECT_EQ(read(), token);
  EXPECT_EQ(warning, "");
}

TEST_F(TokenFile, ReplacesALinkAndDoesNotFollowIt) {
  const std::string victim = directory.write("victim", "precious");
  ASSERT_EQ(::symlink(victim.c_str(), path.c_str()), 0);
  ASSERT_EQ(::symlink(victim.c_str(), (path + ".partial").c_str()), 0);
  const Token token = Token::random();
  write_token(path, token);
  EXPECT_EQ(test::read_text(victim), "precious");
  EXPECT_EQ(read(), token);
}

TEST_F(TokenFile, ThatCannotBeWrittenIsNamed) {
  const std::string nowhere = directory.file("no/such/token");
  EXPECT_THAT(message_of<WriteError>([&] { write_token(nowhere, Token::random()); }),
              StartsWith(nowhere + ": "));
}

TEST_F(TokenFile, ThatOthersCanReadIsWarnedOf) {
  write_token(path, Token::random());
  ASSERT_EQ(::chmod(path.c_str(), 0644), 0);
  read();
  EXPECT_THAT(warning, HasSubstr("chmod 600"));
}

TEST_F(TokenFile, BadOnesAreNamedInOneLine) {
  const auto why = [&] { return message_of<InputError>([&] { read(); }); };
  EXPECT_THAT(why(), StartsWith(path + ": "));  // there is none
  directory.write("token", "not a token\n");
  EXPECT_THAT(why(), StartsWith(path + ": not a token"));
  directory.write("token", std::string(100'000, 'a'));
  EXPECT_THAT(why(), StartsWith(path + ": "));
  path = directory.path();
  EXPECT_THAT(why(), HasSubstr("plain file"));
  path = directory.file("pipe");
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_THAT(why(), HasSubstr("plain file"));
}

TEST(TokenInTheEnvironment, IsUsedWhereThereIsNoFile) {
  const Token token = Token::random();
  const auto why = [] {
    return message_of<InputError>([] { Token::from_file_or_environment(std::nullopt); });
  };
  ::unsetenv("DASGD_TOKEN");
  EXPECT_THAT(why(), HasSubstr("`elastic.token_file`"));
  ::setenv("DASGD_TOKEN", token.text().c_str(), 1);
  EXPECT_EQ(Token::from_file_or_environment(std::nullopt), token);
  ::setenv("DASGD_TOKEN", "nonsense", 1);
  EXPECT_THAT(why(), StartsWith("DASGD_TOKEN: "));
  ::unsetenv("DASGD_TOKEN");
}

}  // namespace
}  // namespace dasgd::tcp
