#include "affine_program.hpp"

#include <algorithm>

namespace oriel::testing {

std::int64_t floor_div(std::int64_t a, std::int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0); }

std::int64_t Affine::at(const Values& v) const {
  std::int64_t e = constant;
  for (std::size_t d = 0; d < v.size(); ++d) e += coefficient[d] * v[d];
  return e;
}

std::string Affine::str() const {
  std::string text;
  for (std::size_t d = 0; d < kVariables; ++d) {
    if (!has(d)) continue;
    text += (text.empty() ? "" : " + ") + std::to_string(coefficient[d]) + "*" + kVariableNames[d];
  }
  return text.empty() ? std::to_string(constant) : text + " + " + std::to_string(constant);
}

std::int64_t Index::at(const Values& v) const {
  const std::int64_t e = floor_div(affine.at(v), divide);
  return modulo > 0 ? e - modulo * floor_div(e, modulo) : e;
}

bool Index::depends_on(std::size_t d) const {
  return affine.has(d) && (table >= 0 || modulo == 0 || affine.coefficient[d] % (divide * modulo) != 0);
}

bool Index::linear() const {
  if (table >= 0) return false;
  const auto all_multiples = [&](std::int64_t of) {
    return std::ranges::all_of(affine.coefficient, [&](std::int64_t c) { return c % of == 0; });
  };
  if (modulo == 0) return all_multiples(divide);
  return modulo == 1 || all_multiples(divide * modulo);  // the remainder is then a constant
}

std::string Index::str() const {
  if (table >= 0) return "J" + std::to_string(table) + "(" + affine.str() + ") + " + std::to_string(more);
  std::string text = affine.str();
  if (divide > 1) text = "(" + text + ") / " + std::to_string(divide);
  if (modulo > 0) text = "(" + text + ") % " + std::to_string(modulo);
  return text;
}

bool Guard::takes(const Values& v) const {
  const bool holds = less[0].at(v) < 0 && (!both || less[1].at(v) < 0);
  return holds != otherwise;
}

std::string Guard::str() const { return less[0].str() + " < 0" + (both ? " && 0 > " + less[1].str() : ""); }

bool StatementCase::used(std::size_t d) const {
  if (d < left) return true;
  for (const Index& index : positions) {
    if (index.affine.has(d)) return true;
  }
  for (const TensorAccess& access : accesses) {
    for (const Index& index : access.indices) {
      if (index.affine.has(d)) return true;
    }
    if (!access.guard) continue;
    if (access.guard->less[0].has(d) || (access.guard->both && access.guard->less[1].has(d))) return true;
  }
  return false;
}

namespace {

std::string text_of(const TensorAccess& access, const std::vector<TensorCase>& tensors) {
  std::string text = tensors[access.tensor].name + "(";
  for (std::size_t d = 0; d < access.indices.size(); ++d) text += (d > 0 ? ", " : "") + access.indices[d].str();
  text += ")";
  if (!access.guard) return text;
  return "(" + access.guard->str() + (access.guard->otherwise ? " ? 2 : " + text : " ? " + text + " : 2") + ")";
}

std::string text_of(const StatementCase& s, const std::vector<TensorCase>& tensors) {
  std::string text = "\n  " + tensors[s.target].name + "(";
  for (std::size_t d = 0; d < s.left; ++d) text += std::string(d > 0 ? ", " : "") + kVariableNames[d];
  for (const Index& index : s.positions) text += (&index == s.positions.data() ? "" : ", ") + index.str();
  text += s.assign == Assign::Set   ? ") = "
          : s.assign == Assign::Sum ? ") +=! "
          : s.assign == Assign::Max ? ") max=! "
                                    : ") += ";
  for (const TensorAccess& access : s.accesses) {
    text += (&access == s.accesses.data() ? "" : " + ") + text_of(access, tensors);
  }
  bool first = true;
  for (std::size_t d = 0; d < s.variables; ++d) {
    if (!s.where[d] || !s.used(d)) continue;
    text += std::string(first ? " where " : ", ") + kVariableNames[d] + " in " + std::to_string(s.where[d]->first) +
            ":" + std::to_string(s.where[d]->second);
    first = false;
  }
  return text;
}

}  // namespace

std::string ProgramCase::text() const {
  std::string parameters;
  std::string results;
  for (const TensorCase& tensor : tensors) {
    std::string dims;
    if (tensor.kind == TensorCase::Kind::Assigned) {
      for (const std::int64_t extent : tensor.extents)
        dims += (dims.empty() ? "float(" : ", ") + std::to_string(extent);
      results += (results.empty() ? "" : ", ") + dims + (dims.empty() ? "" : ") ") + tensor.name;
      continue;
    }
    for (std::size_t d = 0; d < tensor.rank; ++d) {
      dims += (d > 0 ? ", N" : "N") + tensor.name + std::to_string(d);
    }
    parameters += (parameters.empty() ? "" : ", ") +
                  std::string(tensor.kind == TensorCase::Kind::Table ? "int32(" : "float(") + dims + ") " + tensor.name;
  }
  std::string text = "def f(" + parameters + ") -> (" + results + ") {";
  for (const StatementCase& statement : statements) text += text_of(statement, tensors);
  return text + "\n}";
}

std::vector<Shape> ProgramCase::shapes() const {
  std::vector<Shape> out;
  for (const TensorCase& tensor : tensors) {
    if (tensor.kind != TensorCase::Kind::Assigned) out.emplace_back(tensor.extents.begin(), tensor.extents.end());
  }
  return out;
}

namespace {

class Decoder {
 public:
  explicit Decoder(const std::vector<std::uint8_t>& numbers) : numbers_(numbers) {}

  ProgramCase run() {
    inputs();
    const auto statements = 1 + take(5) / 2;
    for (std::int64_t s = 0; s < statements; ++s) statement();
    return std::move(out_);
  }

 private:
  std::int64_t take(int below) {
    return next_ < numbers_.size() ? static_cast<std::int64_t>(numbers_[next_++] % below) : 0;
  }

  // Two or three inputs of rank 1 to 4, and a table. Extents are small if the rank is high.
  void inputs() {
    const auto count = static_cast<std::size_t>(2 + take(2));
    for (std::size_t t = 0; t <= count; ++t) {
      TensorCase tensor;
      const bool table = t == count;
      if (table) tensor.kind = TensorCase::Kind::Table;
      tensor.name = table ? "J0" : "T" + std::to_string(t);
      constexpr std::size_t kRanks[] = {1, 1, 2, 2, 3, 4};
      tensor.rank = table ? 1 : kRanks[take(6)];
      std::int64_t size = 1;
      for (std::size_t d = 0; d < tensor.rank; ++d) {
        tensor.extents.push_back(tensor.rank > 2 ? 2 + take(3) : 1 + take(9));
        size *= tensor.extents.back();
      }
      const std::int64_t seed = table ? take(8) : 0;
      for (std::int64_t k = 0; k < size; ++k) {
        tensor.data.push_back(table ? (seed * k + k / 2) % 5 - (seed == 7 ? 1 : 0)
                                    : (7 * k + 3 * static_cast<std::int64_t>(t)) % 11);
      }
      readable_.push_back(t);
      out_.tensors.push_back(std::move(tensor));
    }
    readable_.pop_back();  // tables are only read in indices
    table_ = count;
  }

  // Mostly of one variable, so that many programs are accepted.
  Affine affine(std::size_t variables) {
    constexpr std::int64_t kCoefficients[] = {1, 1, 1, 1, 1, 2, 1, -1, 3, -2};
    constexpr std::int64_t kConstants[] = {0, 0, 0, 0, 1, -1, 2, -2, 0, 3, -3};
    Affine out;
    const std::int64_t kind = take(10);
    const std::int64_t terms = kind < 7 ? 1 : kind < 9 ? 2 : 4;
    for (std::int64_t t = 0; t < terms; ++t) {
      const auto d = static_cast<std::size_t>(take(static_cast<int>(variables)));
      out.coefficient[d] = kCoefficients[take(10)];
    }
    out.constant = kConstants[take(11)];
    return out;
  }

  Index index(std::size_t variables) {
    Index out;
    out.affine = affine(variables);
    const std::int64_t form = take(16);
    if (form == 1 || form == 2) out.divide = form + 1;
    if (form == 3 || form == 4) out.modulo = form;
    if (form == 5) out.divide = out.modulo = 2;
    if (form == 6 || form == 7) {
      out.table = 0;
      out.more = form - 6;
    }
    return out;
  }

  // Where clauses for some variables, and for most of those that nothing else bounds.
  void ranges(StatementCase& s) {
    for (std::size_t d = 0; d < s.variables; ++d) {
      bool named = false;
      for (const TensorAccess& access : s.accesses) {
        for (const Index& index : access.indices) named = named || index.affine.has(d);
      }
      if (take(8) > (named ? 1 : 6)) continue;
      const std::int64_t lo = take(4) - 1;
      s.where[d] = {lo, lo + take(5)};
    }
  }

  void statement() {
    StatementCase s;
    s.variables = static_cast<std::size_t>(1 + take(kVariables));
    s.left = static_cast<std::size_t>(1 + take(static_cast<int>(s.variables)));
    constexpr Assign kAssigns[] = {Assign::Sum, Assign::Sum, Assign::Max, Assign::Set, Assign::Update};
    s.assign = kAssigns[take(5)];
    const std::int64_t accesses = 1 + take(5) / 2;
    for (std::int64_t a = 0; a < accesses; ++a) {
      TensorAccess access;
      access.tensor = readable_[static_cast<std::size_t>(take(static_cast<int>(readable_.size())))];
      for (std::size_t d = 0; d < out_.tensors[access.tensor].rank; ++d) access.indices.push_back(index(s.variables));
      if (take(4) == 1) {
        Guard guard;
        guard.less[0] = affine(s.variables);
        guard.both = take(2) == 1;
        if (guard.both) guard.less[1] = affine(s.variables);
        guard.otherwise = take(2) == 1;
        access.guard = guard;
      }
      s.accesses.push_back(std::move(access));
    }
    ranges(s);
    const bool reduces = s.variables > s.left && take(8) != 1;
    if (s.assign == Assign::Set && reduces) s.assign = Assign::Sum;
    const bool again = s.assign == Assign::Update && out_.tensors.back().kind == TensorCase::Kind::Assigned;
    if (take(6) == 1) {
      writes_at_positions(s, again);
    } else if (again) {
      s.target = out_.tensors.size() - 1;
      s.left = out_.tensors.back().rank;
      s.variables = std::max(s.variables, s.left);
    } else {
      if (s.assign == Assign::Update) s.assign = Assign::Sum;
      TensorCase target;
      target.kind = TensorCase::Kind::Assigned;
      target.name = "S" + std::to_string(out_.statements.size());
      target.rank = s.left;
      s.target = out_.tensors.size();
      readable_.push_back(s.target);
      out_.tensors.push_back(std::move(target));
    }
    out_.statements.push_back(std::move(s));
  }

  // The target is the last one, or a new one of declared sizes.
  void writes_at_positions(StatementCase& s, bool again) {
    if (s.assign != Assign::Max && !again) s.assign = Assign::Sum;
    s.left = 0;
    if (out_.tensors.back().kind == TensorCase::Kind::Assigned && (again || take(2) == 1)) {
      s.target = out_.tensors.size() - 1;
    } else {
      TensorCase target;
      target.kind = TensorCase::Kind::Assigned;
      target.name = "S" + std::to_string(out_.statements.size());
      target.rank = static_cast<std::size_t>(1 + take(2));
      for (std::size_t d = 0; d < target.rank; ++d) target.extents.push_back(1 + take(9));
      s.target = out_.tensors.size();
      readable_.push_back(s.target);
      out_.tensors.push_back(std::move(target));
    }
    for (std::size_t d = 0; d < out_.tensors[s.target].rank; ++d) s.positions.push_back(index(s.variables));
  }

  const std::vector<std::uint8_t>& numbers_;
  std::size_t next_ = 0;
  ProgramCase out_;
  std::vector<std::size_t> readable_;
  std::size_t table_ = 0;
};

}  // namespace

ProgramCase decode(const std::vector<std::uint8_t>& numbers) { return Decoder(numbers).run(); }

}  // namespace oriel::testing
