#include "dasgd/elastic/adoption/adoption_line.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "dasgd/base/parse_json.hpp"

namespace dasgd::elastic {
namespace {

// Ranges beyond a gap come after those of all other origins.
TEST(AdoptionLine, HasEveryOriginOnce) {
  const Origin a{1, 1}, b{2, 2};
  const std::vector<std::pair<Origin, std::string>> numbering{{a, "a"}, {b, "b"}};
  Adoption adoption;
  adoption.names.insert_range({WorkerId{0}, 0, 3});
  adoption.names.insert_range({WorkerId{0}, 5, 7});
  adoption.names.insert_range({WorkerId{1}, 0, 2});
  adoption.names.insert_range({WorkerId{1}, 8, 9});
  const auto line = parse_json(adoption_line(adoption, 1, numbering, 2));
  ASSERT_TRUE(line.is_object());
  const auto& names = line["names"];
  using Ranges = std::vector<std::vector<int>>;
  const Ranges first{{0, 3}, {5, 7}}, second{{0, 2}, {8, 9}};
  EXPECT_EQ(names[a.text()].get<Ranges>(), first);
  EXPECT_EQ(names[b.text()].get<Ranges>(), second);
  EXPECT_TRUE(line["abandoned"].empty());
}

}  // namespace
}  // namespace dasgd::elastic
