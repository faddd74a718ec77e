#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "cli/options.hpp"
#include "cli/words.hpp"
#include "lang/derive.hpp"

namespace oriel::cli {
namespace {

constexpr const char* kGradUsage =
    R"usage(usage: oriel grad FILE.tc|-e TEXT [--def NAME] [--by NAME ..]

Prints the derivative of a definition (the last one, unless --def names another) as a definition. Beside the parameters
it takes d_R for each result R of floats: how much a unit of each element counts. It gives d_X for each parameter X of
floats: the sum of the derivatives of the results by X, each times its d_R.

  oriel grad -e 'def f(float(M, K) A, float(K, N) B) -> (C) { C(i, j) +=! A(i, k) * B(k, j) }'
  oriel grad tests/examples/tc/conv1d.tc > conv1d_grad.tc
  oriel eval conv1d_grad.tc --in X=x.npy --in F=f.npy --in d_Y=d_y.npy

  --by NAME         gives the derivative by this parameter only; may be repeated

A statement gives the range of an index (where) if inference would find another one.
Exit status: 0 for success, 1 for an error in the program, 2 for a wrong command line.
)usage";

int run_grad(Arguments arguments, const Streams& streams) {
  std::optional<std::string> file, text;
  std::string definition;
  std::vector<std::string> by;
  read_options(arguments,
               {{"-e", into(text), "takes a text"},
                {"--def", into(definition), "takes a name"},
                {"--by", [&](const std::string& name) { by.push_back(name); }, "takes a name"}},
               only(file, "one file"));
  if (file.has_value() == text.has_value()) throw UsageError("one of FILE.tc and -e TEXT is needed");
  const std::vector<lang::ProgramPtr> programs =
      lang::check(text ? *text : read_text("grad", *file), file.value_or("-e"));
  streams.out << lang::derivative(*lang::select(programs, definition), by);
  return 0;
}

}  // namespace

constexpr Command kGrad{"grad", "print the derivative of a comprehension as a comprehension",
                        [] { return std::string(kGradUsage); }, run_grad};

}  // namespace oriel::cli
