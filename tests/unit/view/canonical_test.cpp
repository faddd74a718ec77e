// Equal maps have equal canonical forms.
#include <doctest/doctest.h>

#include <map>

#include "oracle.hpp"
#include "small_views.hpp"

namespace canonical_test {

using oriel::Shape;
using oriel::View;

TEST_CASE("views are the same map exactly if their canonical forms are equal") {
  for (const Shape& shape : small_views::shapes()) {
    std::map<std::vector<oracle::Position>, View> by_table;
    std::map<std::string, std::vector<oracle::Position>> by_form;
    for (const View& view : small_views::views(shape)) {
      const View form = view.canonical();
      const auto table = oracle::table(view);
      CHECK(oracle::table(form) == table);
      const auto [same_table, first] = by_table.emplace(table, form);
      if (!(same_table->second == form)) FAIL(same_table->second.str() << " and " << form.str() << " are the same map");
      CHECK(hash_value(same_table->second) == hash_value(form));
      CHECK(by_form.emplace(form.str(), table).first->second == table);
      CHECK(form.canonical() == form);
      CHECK(form == oracle::fit(shape, table));
    }
  }
}

TEST_CASE("the canonical form as its definition says") {
  CHECK(View::make({3, 1}, {2, 9}, 1).canonical() == View::make({3, 1}, {2, 0}, 1));
  CHECK(View::make({3}, {2}, 1, {{0, 3}}).canonical() == View::make({3}, {2}, 1));
  CHECK(View::make({3}, {2}, 1, {{2, 3}}).canonical() == View::make({3}, {0}, 5, {{2, 3}}));
  CHECK(View::make({3, 2}, {2, 1}, 1, {{2, 2}, {0, 1}}).canonical() == View::make({3, 2}, {0, 0}, 0, {{0, 0}, {0, 0}}));
  CHECK(View::make({3, 0}, {2, 1}, 1, {{0, 1}, {0, 0}}).canonical() == View::make({3, 0}, {0, 0}));
}

TEST_CASE("contiguity of a view is that of its table") {
  for (const Shape& shape : small_views::shapes()) {
    for (View view : small_views::views(shape)) {
      for (const std::int64_t offset : {0, 2}) {
        view.offset = offset;
        bool identity = true;
        std::int64_t n = 0;
        for (const oracle::Position& position : oracle::table(view)) identity = identity && position == n++;
        CHECK(view.is_contiguous() == identity);
      }
    }
  }
}

TEST_CASE("a view prints in one short line") {
  CHECK(View::contiguous({2, 3}).str() == "(2,3):(3,1)");
  CHECK(View::make({2, 3}, {-3, 1}, 3).str() == "(2,3):(-3,1)+3");
  CHECK(View::make({4, 3}, {3, 1}, -3, {{1, 3}, {0, 3}}).str() == "(4,3):(3,1)-3[1:3,0:3)");
  CHECK(View::contiguous({}).str() == "():()");
}

}  // namespace canonical_test
