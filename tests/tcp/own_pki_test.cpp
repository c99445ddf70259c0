#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dasgd/base/input_error.hpp"
#include "support/message.hpp"
#include "tcp/node.hpp"
#include "tcp/pki.hpp"

namespace dasgd::tcp {
namespace {

using test::day;
using test::message_of;
using test::Pair;
using test::Pki;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class OwnPki : public ::testing::Test {
 protected:
  Identity identity(const std::string& member) { return identity(ours, member); }
  static Identity identity(const Pki& pki, const std::string& member) {
    return Identity::own_pki(pki.certificate(member), pki.key(member), pki.authority());
  }
  std::string refusal(const std::string& certificate, const std::string& key,
                      const std::string& authority) {
    const std::string why =
        message_of<InputError>([&] { Identity::own_pki(certificate, key, authority); });
    EXPECT_THAT(why, Not(HasSubstr("\n")));
    return why;
  }
  std::string refusal(const std::string& member) {
    return refusal(ours.certificate(member), ours.key(member), ours.authority());
  }

  test::TemporaryDirectory directory;
  Pki ours{directory, "ours"}, theirs{directory, "theirs"};
};

TEST_F(OwnPki, MembersOfOneAuthorityLink) {
  ours.certify("one");
  ours.certify("two");
  Pair p(identity("one"), identity("two"));
  ASSERT_TRUE(p.meet());
  EXPECT_EQ(p.a.sockets.peer(p.to_b).name, "two");
  EXPECT_FALSE(p.a.sockets.peer(p.to_b).origin);
}

TEST_F(OwnPki, OneOfAForeignAuthorityIsUntrustedOnBothSides) {
  ours.certify("one");
  theirs.certify("two");
  Pair p(identity("one"), identity(theirs, "two"));
  ASSERT_TRUE(p.until([&] { return p.b.failure && !p.a.refusals.empty(); }));
  EXPECT_EQ(p.b.failure, DialFailure::untrusted);
  EXPECT_THAT(p.b.failures[0], HasSubstr("its certificate is not of our authority"));
  EXPECT_THAT(p.a.refusals[0], HasSubstr("does not accept our certificate (tlsv1"));
  EXPECT_TRUE(p.a.links.empty() && p.b.links.empty());
}

TEST_F(OwnPki, WhoAcceptsOursAndIsNotOfOursIsTurnedAway) {
  ours.certify("one");
  theirs.certify("two");
  Pair p(identity("one"),  // verifies against ours, shows theirs: only we can refuse
         [&] {
           std::filesystem::copy_file(ours.authority(), theirs.authority() + ".both");
           std::ofstream(theirs.authority() + ".both", std::ios::app)
               << test::read_text(theirs.authority());
           return Identity::own_pki(theirs.certificate("two"), theirs.key("two"),
                                    theirs.authority() + ".both");
         }());
  ASSERT_TRUE(p.until([&] { return p.b.failure && !p.a.refusals.empty(); }));
  EXPECT_EQ(p.b.failure, DialFailure::untrusted);
  EXPECT_THAT(p.b.failures[0], HasSubstr("it does not accept our certificate"));
  EXPECT_THAT(p.a.refusals[0], HasSubstr("its certificate is not of our authority"));
  EXPECT_TRUE(p.a.links.empty() && p.b.links.empty());
}

TEST_F(OwnPki, AnExpiredCertificateIsRefusedAtTheStart) {
  ours.certify("old", {.from = -2 * day, .until = -day});
  EXPECT_THAT(refusal("old"), HasSubstr("certificate has expired"));
  ours.certify("early", {.from = day, .until = 2 * day});
  EXPECT_THAT(refusal("early"), HasSubstr("not yet valid"));
}

TEST_F(OwnPki, WhatCannotBeUsedIsNamedInOneLine) {
  ours.certify("one");
  ours.certify("two");
  theirs.certify("one");
  const std::string nothing = directory.file("nothing"), junk = directory.write("junk", "junk\n");
  for (const std::string& bad : {nothing, junk, directory.path()}) {
    EXPECT_THAT(refusal(bad, ours.key("one"), ours.authority()), StartsWith(bad + ": "));
    EXPECT_THAT(refusal(ours.certificate("one"), bad, ours.authority()), StartsWith(bad + ": "));
    EXPECT_THAT(refusal(ours.certificate("one"), ours.key("one"), bad), StartsWith(bad + ": "));
  }
  EXPECT_EQ(refusal(ours.certificate("one"), ours.key("two"), ours.authority()),
            ours.key("two") + ": is not the key of " + ours.certificate("one"));
  const std::string other_kind = ours.add_rsa_key("other");
  EXPECT_EQ(refusal(ours.certificate("one"), other_kind, ours.authority()),
            other_kind + ": is not the key of " + ours.certificate("one"));
  EXPECT_THAT(refusal(theirs.certificate("one"), theirs.key("one"), ours.authority()),
              HasSubstr("would not accept this certificate"));
}

TEST_F(OwnPki, WhatIsWrongWithAFileIsSaidInWords) {
  ours.certify("one");
  const auto expect = [&](const std::string& bad, const std::string& certificate,
                          const std::string& key, const std::string& authority) {
    const auto what = [&](const std::string& words) { return StartsWith(bad + ": " + words); };
    EXPECT_THAT(refusal(bad, ours.key("one"), ours.authority()), what(certificate));
    EXPECT_THAT(refusal(ours.certificate("one"), bad, ours.authority()), what(key));
    EXPECT_THAT(refusal(ours.certificate("one"), ours.key("one"), bad), what(authority));
  };
  const std::string missing = "No such file or directory", empty = "is empty";
  expect(directory.file("nothing"), missing, missing, missing);
  expect(directory.write("empty", ""), empty, empty, empty);
  expect(directory.write("junk", "junk\n"),
         "holds no certificate in PEM form: ", "holds no key without a passphrase in PEM form: ",
         "holds no certificate of an authority in PEM form: ");
}

TEST_F(OwnPki, ACertificateMustServeBothRoles) {
  ours.certify("server", {}, "serverAuth");
  ours.certify("client", {}, "clientAuth");
  ours.certify("both", {}, "serverAuth,clientAuth");
  EXPECT_THAT(refusal("server"), HasSubstr("as a client"));
  EXPECT_THAT(refusal("client"), HasSubstr("as a server"));
  EXPECT_EQ(refusal("both"), "");
}

TEST_F(OwnPki, ARevokedMemberIsNotLetIn) {
  ours.certify("one");
  ours.certify("two");
  Identity before = identity("two");
  ours.revoke({"two"});
  EXPECT_THAT(refusal("two"), HasSubstr("certificate revoked"));
  Pair p(identity("one"), std::move(before));
  ASSERT_TRUE(p.until([&] { return p.b.failure && !p.a.refusals.empty(); }));
  EXPECT_EQ(p.b.failure, DialFailure::untrusted);
  EXPECT_THAT(p.a.refusals[0], HasSubstr("certificate revoked"));
}

TEST_F(OwnPki, DoesNotMixWithATokenOrPlainText) {
  ours.certify("one");
  for (const Identity& other : {Identity::of(Token::random(), "w", {}), Identity::plaintext()}) {
    Pair there(identity("one"), other), back(other, identity("one"));
    for (Pair* p : {&there, &back}) {
      ASSERT_TRUE(p->until([&] { return p->b.failure && !p->a.refusals.empty(); }));
      EXPECT_THAT(*p->b.failure, AnyOf(DialFailure::untrusted, DialFailure::other));
      EXPECT_TRUE(p->a.links.empty() && p->b.links.empty());
    }
  }
}

}  // namespace
}  // namespace dasgd::tcp
