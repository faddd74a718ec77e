#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <istream>
#include <optional>
#include <ostream>

#include "cli/command.hpp"
#include "cli/json.hpp"
#include "cli/options.hpp"
#include "cli/words.hpp"
#include "oriel/error.hpp"
#include "oriel/layouts.hpp"

namespace oriel::cli {
namespace {

using layouts::Map;
using layouts::Notation;

constexpr const char* kLayoutUsage = R"usage(usage: oriel layout LAYOUT [--as NOTATION] [OPTIONS]
       oriel layout OPERATION LAYOUT [LAYOUT | N] [OPTIONS]
       oriel layout --json

Reads a layout in the notation of CuTe, PyTorch, NumPy, tinygrad, Oriel, Triton's linear layouts or ISL. Without an
operation it prints the layout in each notation that can say it, or in the one of --as.

  oriel layout "((2,2),4):((1,8),2)"
  oriel layout "size=(2, 3), stride=(1, 2)" --as cute
  oriel layout equal "(2,3):(3,1)" "size=(2, 3), stride=(3, 1)"
  oriel layout compose "(6,2):(8,2)" "(4,3):(3,1)"
  oriel layout info "(8,8):(8,1)" --element-bytes 2

Notations (detected by their form; --from and --as name one):
  cute       (2,3):(3,1)    ((2,2),4):((1,8),2)    Sw<2,0,3> o 0 o (8,8):(8,1)    axis 0 is the fastest
  torch      size=(2, 3), stride=(3, 1), storage_offset=0
  numpy      {'shape': (2, 3), 'typestr': '<f4', 'strides': (12, 4), 'offset': 0, 'version': 3}    in bytes
  tinygrad   View(shape=(2, 3), strides=(3, 1), offset=0, mask=None, contiguous=True), ShapeTracker(views=(..))
  oriel      (2,3):(3,1)+5[0:2,1:3) over (6):(1)
  linear     linear<{dim0 = [[1]], dim1 = [[2], [4]]}>
  isl        { [i0, i1] -> [3*i0 + i1] : 0 <= i0 < 2 and 0 <= i1 < 3 }

Operations:
  equal A B            are both the same map? If not, the first index at which they differ; the exit status is 1
  info A               what an access costs: injective, gaps, runs, lines, bank conflicts, cycles
  coalesce A           the same numbers with the fewest modes
  flatten A            the modes without nesting
  compose A B          at'(i) = A(B(i)): a layout whenever one exists, else a stack of views
  complement A [N]     the modes that fill A's gaps up to N
  right_inverse A      the largest R with A(R(i)) = i
  left_inverse A       the L with L(A(i)) = i
  logical_divide A B   zipped_divide A B   logical_product A B   blocked_product A B   raked_product A B
B may be a tiler of compose and of the divisions: "<2:1, 4:2>", a layout for each of the first modes.

Options:
  --as NOTATION, --from NOTATION
  --table              print the positions too, in the layout's order
  --element-bytes N    for info and numpy (4); for info also --vector N (1), --lanes N (32), --line-bytes N (128),
                       --banks N (32) and --bank-bytes N (4)

With --json, each line of standard input is an object: {"op":"compose","a":"(6,2):(8,2)","b":"(4,3):(3,1)"}, with "n" for
the bound of a complement, "as" for a notation, "table":true for the positions in the layout's order. "op" is one of the
operations, or "print". The answers come in order: {"layout":..,"size":..,"rank":..} with "table";
{"equal":..,"first":..,"reason":..}; for info an object of numbers; or {"error":".."}.
)usage";

struct LayoutQuestion {
  std::string op = "print";
  std::vector<std::string> operands;
  std::optional<Notation> from;
  std::optional<Notation> as;
  std::optional<std::int64_t> bound;
  bool table = false;
  layouts::AccessModel model;
};

constexpr std::array kOneOperand{"print", "info", "coalesce", "flatten", "complement", "right_inverse", "left_inverse"};
constexpr std::array kTwoOperands{"equal",           "compose",         "logical_divide", "zipped_divide",
                                  "logical_product", "blocked_product", "raked_product"};

/// The numbers of the model: members of a line, and options.
struct ModelNumber {
  std::string_view name, option;
  int layouts::AccessModel::*place;
};
constexpr std::array kModelNumbers{
    ModelNumber{"element_bytes", "--element-bytes", &layouts::AccessModel::element_bytes},
    ModelNumber{"vector", "--vector", &layouts::AccessModel::vector},
    ModelNumber{"lanes", "--lanes", &layouts::AccessModel::lanes},
    ModelNumber{"line_bytes", "--line-bytes", &layouts::AccessModel::line_bytes},
    ModelNumber{"banks", "--banks", &layouts::AccessModel::banks},
    ModelNumber{"bank_bytes", "--bank-bytes", &layouts::AccessModel::bank_bytes}};

bool among(const auto& names, std::string_view name) { return std::ranges::find(names, name) != names.end(); }

Map read(const LayoutQuestion& question, std::size_t k) {
  const std::string& text = question.operands.at(k);
  return question.from ? Map::read(text, *question.from) : Map::read(text);
}

/// "<2:1, 4:2>" and "(2:1, 4:2)" are tilers: the first colon stands inside of the brackets.
bool is_tiler(std::string_view text) {
  text = trim(text);
  if (text.starts_with("<")) return true;
  int depth = 0;
  for (const char c : text) {
    depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    if (c == ':') return depth > 0;
  }
  return false;
}

Map combined(const LayoutQuestion& question) {
  Map a = read(question, 0);
  const std::string& op = question.op;
  if (op == "print") return a;
  if (op == "coalesce") return a.coalesce();
  if (op == "flatten") return a.flatten();
  if (op == "complement") return a.complement(question.bound ? std::optional<SymInt>(*question.bound) : std::nullopt);
  if (op == "right_inverse") return a.right_inverse();
  if (op == "left_inverse") return a.left_inverse();
  if (is_tiler(question.operands.at(1))) {
    const std::vector<Map> tiler = layouts::read_tiler(question.operands[1]);
    if (op == "compose") return layouts::compose(a, tiler);
    if (op == "logical_divide") return layouts::logical_divide(a, tiler);
    if (op == "zipped_divide") return layouts::zipped_divide(a, tiler);
    throw ArgumentError("layout", fmt::format("{} takes a layout, not a tiler", op));
  }
  const Map b = read(question, 1);
  if (op == "compose") return a.compose(b);
  // With one layout as the tiler, a logical division is in the form of a zipped one: (in a tile, tiles).
  if (op == "logical_divide" || op == "zipped_divide") return a.logical_divide(b);
  if (op == "logical_product") return a.logical_product(b);
  if (op == "blocked_product") return a.blocked_product(b);
  return a.raked_product(b);
}

std::string text_of(const Map& map, const LayoutQuestion& question) {
  return question.as ? map.str(*question.as, question.model.element_bytes) : map.str();
}

/// The names and numbers of an analysis, in the order in which they are printed.
Json analysis_of(const Map& map, const LayoutQuestion& question) {
  const layouts::Analysis a = map.analyze(question.model);
  Json answer = Json::object();
  answer["layout"] = text_of(map, question);
  answer["size"] = a.size;
  answer["valid"] = a.valid;
  answer["distinct"] = a.distinct;
  answer["lowest"] = a.lowest;
  answer["footprint"] = a.footprint;
  answer["gaps"] = a.footprint - a.distinct;
  answer["injective"] = a.injective;
  answer["longest_run"] = a.longest_run;
  answer["vector"] = a.vector;
  answer["lines"] = a.lines;
  answer["groups"] = a.groups;
  answer["transactions"] = a.transactions;
  answer["coalescing"] = a.coalescing;
  answer["bank_conflicts"] = a.bank_conflicts;
  answer["cycles"] = a.cycles;
  return answer;
}

std::string layout_json(const Json& request) {
  LayoutQuestion question;
  for (const auto& [key, value] : request.items()) {
    if (key == "op") question.op = value.get<std::string>();
    if (key == "from") question.from = layouts::notation_named(value.get<std::string>());
    if (key == "as") question.as = layouts::notation_named(value.get<std::string>());
    if (key == "n" && !value.is_null()) question.bound = value.get<std::int64_t>();
    if (key == "table") question.table = !(value.is_null() || (value.is_boolean() && !value.get<bool>()));
    const auto number = std::ranges::find(kModelNumbers, key, &ModelNumber::name);
    if (number != kModelNumbers.end()) question.model.*number->place = value.get<int>();
  }
  const bool two = among(kTwoOperands, question.op);
  if (!two && !among(kOneOperand, question.op)) {
    throw ArgumentError("layout",
                        fmt::format("no operation is named '{}'; `oriel layout --help` lists them", question.op));
  }
  for (const char* const key : {"a", "b"}) {
    if (*key == 'b' && !two) break;
    if (!request.contains(key) || !request[key].is_string())
      throw ArgumentError("layout", fmt::format("{} needs \"{}\", a layout as a string", question.op, key));
    question.operands.push_back(request[key].get<std::string>());
  }
  Json answer = Json::object();
  if (question.op == "equal") {
    const layouts::Comparison comparison = read(question, 0).compare(read(question, 1));
    answer["equal"] = comparison.equal;
    answer["first"] = comparison.first ? Json(comparison.first->value()) : Json(nullptr);
    if (!comparison.equal) answer["reason"] = comparison.reason;
    return answer.dump();
  }
  if (question.op == "info") return analysis_of(read(question, 0), question).dump();
  const Map map = combined(question);
  answer["layout"] = text_of(map, question);
  answer["size"] = map.size().value();
  answer["rank"] = map.rank();
  if (question.table) answer["table"] = map.table();
  return answer.dump();
}

std::string layout_line(std::string_view line) {
  return answer_object("layout", line, [](const Json& request) {
    try {
      return layout_json(request);
    } catch (const Json::exception&) {
      throw ArgumentError("layout",
                          "a member has the wrong type: \"op\", \"a\", \"b\", \"from\" and \"as\" are strings, "
                          "\"n\" and the numbers of the model integers");
    }
  });
}

std::string table_text(const Map& map) {
  std::string text = "table:";
  for (const std::int64_t position : map.table()) text += fmt::format(" {}", position);
  return text + "\n";
}

std::string translations(const Map& map, const LayoutQuestion& question) {
  std::string text;
  for (const Notation notation : {Notation::cute, Notation::torch, Notation::numpy, Notation::tinygrad, Notation::oriel,
                                  Notation::linear, Notation::isl}) {
    std::string said;
    try {
      said = map.str(notation, question.model.element_bytes);
    } catch (const ArgumentError& error) {
      said = fmt::format("- ({})", error.reason());
    }
    text += fmt::format("{:<9} {}\n", layouts::name(notation), said);
  }
  return text;
}

std::string info_text(const Map& map, const LayoutQuestion& question) {
  const layouts::Analysis a = map.analyze(question.model);
  const layouts::AccessModel& m = question.model;
  const auto percent = [](double x) { return fmt::format("{:.0f} %", 100 * x); };
  std::string text = fmt::format("layout: {}\nindices: {}", text_of(map, question), a.size);
  if (a.valid != a.size) text += fmt::format(", {} of them valid", a.valid);
  text += fmt::format("\npositions: {} from {} on, {} of them used", a.footprint, a.lowest, a.distinct);
  text += a.dense() ? ", no gaps\n" : fmt::format(", {} in gaps\n", a.footprint - a.distinct);
  text += fmt::format("injective: {}\n", a.injective ? "yes"
                                                     : fmt::format("no, {} indices share a position with others' "
                                                                   "first",
                                                                   a.valid - a.distinct));
  text += fmt::format("longest run: {}; vectors of up to {}\n", a.longest_run, a.vector);
  text += fmt::format("lines of {} bytes: {}, {} of their bytes used\n", m.line_bytes, a.lines,
                      percent(a.lines == 0 ? 1
                                           : static_cast<double>(a.distinct * m.element_bytes) /
                                                 static_cast<double>(a.lines * m.line_bytes)));
  text += fmt::format("groups of {} lanes, {} elements each: {} groups, {} lines, {} of their bytes used\n", m.lanes,
                      m.vector, a.groups, a.transactions, percent(a.coalescing));
  text +=
      fmt::format("bank conflicts ({} banks of {} bytes): {}\n", m.banks, m.bank_bytes,
                  a.bank_conflicts <= 1 ? "none" : fmt::format("{} words of one bank in a group", a.bank_conflicts));
  if (!a.cycles.empty()) {
    const auto fixed = std::ranges::count(a.cycles, 1);
    text += fmt::format("permutation: {} cycles, the longest of {}, {} fixed points\n", a.cycles.size(), a.cycles[0],
                        fixed);
  }
  return text;
}

/// The answer, and the exit status.
std::pair<std::string, int> answer_text(const LayoutQuestion& question, bool operation_named) {
  if (question.op == "equal") {
    const layouts::Comparison comparison = read(question, 0).compare(read(question, 1));
    return {comparison.equal ? "equal\n" : comparison.reason + "\n", comparison.equal ? 0 : 1};
  }
  if (question.op == "info") return {info_text(read(question, 0), question), 0};
  const Map map = combined(question);
  std::string text = operation_named || question.as ? text_of(map, question) + "\n" : translations(map, question);
  if (question.table) text += table_text(map);
  return {text, 0};
}

int run_layout(Arguments arguments, const Streams& streams) {
  LayoutQuestion question;
  bool lines = false;
  bool operation = false;
  const auto notation = [](std::string_view name, std::optional<Notation>& place) {
    return Option{name, [&place](const std::string& value) { place = layouts::notation_named(value); },
                  "needs a value"};
  };
  const auto number = [](std::string_view name, int& place) {
    return Option{name,
                  [name, &place](const std::string& value) {
                    const std::int64_t read = parse_number(value, name, "layout");
                    if (read < 1 || read > 1'000'000)
                      throw UsageError(fmt::format("{} is from 1 to 10^6, not {}", name, read));
                    place = static_cast<int>(read);
                  },
                  "needs a value"};
  };
  std::vector<Option> options{{"--json", &lines},
                              {"--table", &question.table},
                              notation("--as", question.as),
                              notation("--from", question.from)};
  for (const ModelNumber& n : kModelNumbers) options.push_back(number(n.option, question.model.*n.place));
  read_options(arguments, options, [&](const std::string& argument) {
    if (!operation && question.operands.empty() && (among(kOneOperand, argument) || among(kTwoOperands, argument))) {
      question.op = argument;
      operation = true;
    } else {
      question.operands.push_back(argument);
    }
  });
  if (lines) {
    if (!question.operands.empty() || operation) throw UsageError("--json reads standard input and takes no layout");
    answer_each_line(streams.in, streams.out, layout_line);
    return 0;
  }
  if (question.op == "complement" && question.operands.size() == 2) {
    question.bound = parse_number(question.operands[1], "the bound", "layout");
    question.operands.pop_back();
  }
  const std::size_t wanted = among(kTwoOperands, question.op) ? 2 : 1;
  if (question.operands.size() != wanted) {
    throw UsageError(question.operands.empty()
                         ? "a layout is missing"
                         : fmt::format("{} takes {} layout{}, got {}; quote each as a whole", question.op, wanted,
                                       wanted == 1 ? "" : "s", question.operands.size()));
  }
  const auto [text, status] = answer_text(question, operation);
  streams.out << text;
  return status;
}

}  // namespace

constexpr Command kLayout{"layout", "translate, compare and combine layouts of CuTe, PyTorch, NumPy, tinygrad, ISL",
                          [] { return std::string(kLayoutUsage); }, run_layout};

}  // namespace oriel::cli
