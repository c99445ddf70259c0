// Man pages, completions and pages of the site say what --help says.
#include <regex>
#include <set>

#include "app/app.hpp"

namespace dasgd::test {
namespace {

struct Help {
  std::set<std::string> options, commands;
};

// What a person reads in the help: a second way to the table, through the formatter of CLI11.
Help read_help(const std::string& text) {
  Help help;
  static const std::regex option(R"(^  (-[A-Za-z0-9-]+(,--[A-Za-z0-9-]+)?).*)");
  static const std::regex command(R"(^  ([a-z]+)   .*)");
  std::istringstream lines(text);
  bool below = false;
  std::smatch match;
  for (std::string line; std::getline(lines, line);) {
    if (line == "Subcommands:") below = true;
    if (line == "Examples:") break;
    if (std::regex_match(line, match, option)) {
      std::istringstream names(match[1]);
      for (std::string name; std::getline(names, name, ',');) help.options.insert(name);
    } else if (below && std::regex_match(line, match, command)) {
      help.commands.insert(match[1]);
    }
  }
  return help;
}

// What man(1) shows of a page: no fonts, no escapes.
std::string shown(const std::string& page) {
  return std::regex_replace(page, std::regex(R"(\\f[A-Z]|\\)"), "");
}

// The whole word, so that --out is not found in --output.
bool names(const std::string& text, const std::string& word) {
  return std::regex_search(text, std::regex("(^|[^A-Za-z0-9-])" + word + "($|[^A-Za-z0-9-])"));
}

class Manual : public App {
 protected:
  void SetUp() override {
    ASSERT_EQ(dasgd("manual " + out("share")).status, 0);
    ASSERT_EQ(dasgd("manual --markdown " + out("pages")).status, 0);
    program = read_help(dasgd("--help").out);
    ASSERT_GT(program.commands.size(), 10u);
    for (const std::string& command : program.commands) {
      const Help help = read_help(dasgd(command + " --help").out);
      commands.emplace_back(command, help);
      for (const std::string& below : help.commands)  // they are on the page of their command
        commands.emplace_back(command + " " + below,
                              read_help(dasgd(command + " " + below + " --help").out));
    }
  }
  std::string share(const std::string& name) { return read_text(out("share") + "/" + name); }
  static std::string page_of(const std::string& command) {
    return "dasgd-" + command.substr(0, command.find(' '));
  }

  Help program;
  std::vector<std::pair<std::string, Help>> commands;
};

TEST_F(Manual, EveryCommandHasAManPageThatNamesEveryOption) {
  const std::string first = shown(share("man/man1/dasgd.1"));
  for (const auto& [command, help] : commands) {
    EXPECT_TRUE(names(first, page_of(command))) << command;
    const std::string page = shown(share("man/man1/" + page_of(command) + ".1"));
    for (const std::string& option : help.options)
      EXPECT_TRUE(names(page, option)) << command << " " << option;
  }
}

TEST_F(Manual, EveryCommandHasAPageOfTheSiteThatNamesEveryOption) {
  for (const auto& [command, help] : commands) {
    const std::string page = read_text(out("pages") + "/" + page_of(command) + ".md");
    for (const std::string& option : help.options)
      EXPECT_TRUE(names(page, option)) << command << " " << option;
  }
}

// scripts/update_docs.sh writes it again.
TEST_F(Manual, ThePageOfTheDocumentationIsWhatTheTablesSay) {
  EXPECT_EQ(read_text(out("pages") + "/command_line.md"),
            read_text(DASGD_SOURCE_DIR "/docs/command_line.md"))
      << "docs/command_line.md is stale: run scripts/update_docs.sh";
}

TEST_F(Manual, BashOffersEveryOptionOfEveryCommand) {
  for (const auto& [command, help] : commands) {
    const Outcome offered =
        shell("bash -c '. " + out("share") +
              "/bash-completion/completions/dasgd; COMP_WORDS=(dasgd " + command +
              " -); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _dasgd; printf \"%s\\n\" "
              "\"${COMPREPLY[@]}\"'");
    std::istringstream lines(offered.out);
    std::set<std::string> words;
    for (std::string line; std::getline(lines, line);) words.insert(line);
    EXPECT_EQ(words, help.options) << command << offered.err;
  }
}

TEST_F(Manual, BashOffersCommandsAndValuesAndElseFiles) {
  const auto offers = [&](const std::string& words) {
    return shell("bash -c 'cd " + out("share") +
                 "; . bash-completion/completions/dasgd; COMP_WORDS=(dasgd " + words +
                 "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _dasgd; echo \"${COMPREPLY[@]}\"'")
        .out;
  };
  EXPECT_EQ(offers("si"), "simulate\n");
  EXPECT_EQ(offers("data ge"), "get\n");
  EXPECT_EQ(offers("train --relay a"), "arrival apply auto\n");
  EXPECT_EQ(offers("train --workers 2 --lr p"), "proved\n");
  EXPECT_EQ(offers("report fi"), "fish\n");
}

// The words of a shell's file that stand for an option: "--lr" of zsh, "-l lr" of fish.
TEST_F(Manual, ZshAndFishNameEveryOptionOfEveryCommand) {
  const std::string zsh = share("zsh/vendor-completions/_dasgd");
  const std::string fish = share("fish/vendor_completions.d/dasgd.fish");
  for (const auto& [command, help] : commands) {
    std::string function = "_dasgd_" + command;
    std::replace(function.begin(), function.end(), ' ', '_');
    const std::size_t from = zsh.find("\n" + function + "() {");
    ASSERT_NE(from, std::string::npos) << function;
    const std::string body = zsh.substr(from, zsh.find("\n}\n", from) - from);
    const std::string last = command.substr(command.rfind(' ') + 1);
    for (const std::string& option : help.options) {
      EXPECT_TRUE(names(body, option)) << command << " " << option;
      const std::string in_fish =
          option.starts_with("--") ? "-l " + option.substr(2) : "-s " + option.substr(1);
      EXPECT_TRUE(std::regex_search(fish, std::regex("from " + last + "'.* " + in_fish + " ")))
          << command << " " << option;
    }
  }
}

TEST_F(Manual, ADirectoryThatCannotBeIsRefused) {
  shell("touch " + out("file"));
  expect_refusal("manual " + out("file"), "Not a directory");
}

}  // namespace
}  // namespace dasgd::test
