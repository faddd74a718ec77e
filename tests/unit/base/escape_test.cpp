// Text from outside in messages.
#include "base/escape.hpp"

#include <doctest/doctest.h>

#include <string>

namespace escape_test {

using oriel::base::escaped;

TEST_CASE("characters that control a terminal are written out") {
  CHECK(escaped("plain \"text\" \\ ~") == "plain \"text\" \\ ~");
  CHECK(escaped("\x1b[2J") == "\\x1b[2J");
  CHECK(escaped(std::string("\0\x01\x7f", 3)) == "\\x00\\x01\\x7f");
  CHECK(escaped("a\nb\tc\r") == "a\\x0ab\\x09c\\x0d");
  CHECK(escaped("a\nb\tc\r", true) == "a\nb\tc\\x0d");
}

TEST_CASE("UTF-8 stays, except control characters and characters that change the direction") {
  CHECK(escaped("gr\xc3\xb6\xc3\x9f"
                "e \xe2\x82\xac \xf0\x9f\x99\x82") ==
        "gr\xc3\xb6\xc3\x9f"
        "e \xe2\x82\xac \xf0\x9f\x99\x82");
  CHECK(escaped("\xc2\x9b") == "\\xc2\\x9b");           // CSI
  CHECK(escaped("\xe2\x80\xae") == "\\xe2\\x80\\xae");  // right-to-left override
  CHECK(escaped("\xe2\x80\xa8") == "\\xe2\\x80\\xa8");  // line separator
}

TEST_CASE("bytes that are not UTF-8 are written out one by one") {
  for (const char* bytes :
       {"\x80", "\xff", "\xc3", "\xe2\x82", "\xc0\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xf8\x88\x80\x80\x80"}) {
    const std::string text = escaped(bytes);
    CAPTURE(text);
    CHECK(text.size() == 4 * std::string(bytes).size());
  }
  CHECK(escaped("\xc3(") == "\\xc3(");
}

}  // namespace escape_test
