// The line that says what a command is doing.
#include "cli/progress.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <sstream>
#include <thread>

namespace progress_test {

using oriel::cli::Progress;
using oriel::cli::span_text;

namespace {

void wait() { std::this_thread::sleep_for(std::chrono::milliseconds(400)); }

}  // namespace

TEST_CASE("spans of time") {
  CHECK(span_text(0) == "0 s");
  CHECK(span_text(1.2) == "2 s");
  CHECK(span_text(125) == "2 min 5 s");
}

TEST_CASE("a phase is told with its time and what is left, and the line is cleared") {
  std::ostringstream err;
  {
    Progress progress(err, true, 0.01);
    progress.phase("reading a.npy");
    wait();
    progress.phase("running 3 kernels", 90);
    wait();
  }
  const std::string said = err.str();
  CHECK(said.find("\rreading a.npy, 1 s\x1b[K") != std::string::npos);
  CHECK(said.find("\rrunning 3 kernels, 1 s, about 1 min 30 s left\x1b[K") != std::string::npos);
  CHECK(said.ends_with("\r\x1b[K"));
}

TEST_CASE("short phases and hidden ones say nothing") {
  std::ostringstream err;
  { Progress(err, true, 60).phase("reading"); }
  {
    Progress progress(err, false, 0.001);
    progress.phase("reading");
    progress.clear();
    wait();
    CHECK_FALSE(progress.shown());
  }
  CHECK(err.str().empty());
}

TEST_CASE("what is cleared stays so until the next phase") {
  std::ostringstream err;
  Progress progress(err, true, 0.01);
  progress.phase("reading");
  wait();
  progress.clear();
  const std::string said = err.str();
  CHECK(said.ends_with("\r\x1b[K"));
  wait();
  CHECK(err.str() == said);
}

}  // namespace progress_test
