
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "capture/file/saved.hpp"
#include "oriel/error.hpp"
#include "sym/parse.hpp"
#include "sym/print.hpp"
#include "view/layouts/density_predicate.hpp"

namespace oriel::api {

using graph::Node;
using graph::NodePtr;
using graph::Op;

void SavedWriter::finish(ByteWriter& to) const {
  to.u32(words_.size());
  for (const std::string& text : words_) to.text(text);
  to.u32(devices_.size());
  for (const Device d : devices_) {
    to.u8(static_cast<std::uint8_t>(d.kind));
    to.u8(d.index);
  }
  to.bytes() += out_.bytes();
}

void SavedWriter::word(std::string_view text) {
  const auto [at, fresh] = word_of_.emplace(std::string(text), words_.size());
  if (fresh) words_.emplace_back(text);
  out_.u32(at->second);
}

void SavedWriter::dtype(DType d) { word(name(d)); }

void SavedWriter::device(Device d) {
  out_.u32(static_cast<std::size_t>(std::ranges::find(devices_, d) - devices_.begin()));
}

void SavedWriter::add_device(Device d) {
  if (std::ranges::find(devices_, d) == devices_.end()) devices_.push_back(d);
}

void SavedWriter::site(Site s) {
  const std::string_view file = s.file == nullptr ? "" : s.file;
  word(file.substr(file.find_last_of('/') + 1));
  out_.i64(s.line);
}

void SavedWriter::expression(sym::Expr e) {
  const std::string text = sym::to_string(e);
  const auto symbol = [&](std::string_view symbol_name) -> sym::Expr {
    const auto* found = environment_->symbols.find(symbol_name);
    return found == nullptr ? nullptr : found->expr;
  };
  sym::Expr read = nullptr;
  try {
    read = sym::parse(environment_->pool, text, symbol);
  } catch (const Error&) {  // too long, too deep, or a predicate
  }
  if (read != e)
    throw ArgumentError("save", fmt::format("a size or guard of the captured function cannot be written as text: {}",
                                            text.substr(0, 200)));
  word(text);
}

void SavedWriter::condition(sym::Expr e) {
  const bool negated = e->kind == sym::Kind::not_predicate;
  const bool opaque = (negated || e->kind == sym::Kind::predicate) && e->name == detail::kDensityPredicate;
  const SavedGuard kind = !opaque ? SavedGuard::text : negated ? SavedGuard::not_dense : SavedGuard::dense;
  out_.u8(static_cast<std::uint8_t>(kind));
  if (!opaque) return expression(e);
  out_.u32(e->args.size());
  for (const sym::Expr n : e->args) number(n->is_constant() ? SymInt(n->value) : SymInt(n));
}

void SavedWriter::number(SymInt n) {
  out_.u8(n.is_symbolic() ? 1 : 0);
  if (n.is_symbolic()) {
    expression(n.node());
  } else {
    out_.i64(n.value());
  }
}

void SavedWriter::numbers(const Ints& ints) {
  out_.u32(ints.size());
  for (const SymInt n : ints) number(n);
}

void SavedWriter::ranges(const Ranges& list) {
  out_.u32(list.size());
  for (const Range& r : list) {
    number(r.lo);
    number(r.hi);
  }
}

void SavedWriter::view(const View& v) {
  numbers(v.shape);
  numbers(v.strides);
  number(v.offset);
  ranges(v.mask);
}

void SavedWriter::argument(const graph::Arg& arg) {
  const auto tag = [&](SavedArg t) { out_.u8(static_cast<std::uint8_t>(t)); };
  if (const auto* scalar = std::get_if<graph::Scalar>(&arg)) {
    tag(SavedArg::scalar);
    dtype(scalar->dtype);
    out_.i64(scalar->i);
  } else if (const auto* ints = std::get_if<Ints>(&arg)) {
    tag(SavedArg::ints);
    numbers(*ints);
  } else if (const auto* list = std::get_if<std::shared_ptr<const Ranges>>(&arg)) {
    tag(SavedArg::ranges);
    ranges(**list);
  } else if (const auto* one = std::get_if<std::shared_ptr<const View>>(&arg)) {
    tag(SavedArg::view);
    view(**one);
  } else if (const auto* stack = std::get_if<std::shared_ptr<const ShapeTracker>>(&arg)) {
    tag(SavedArg::stack);
    out_.u32((*stack)->views().size());
    for (const View& v : (*stack)->views()) view(v);
  } else if (const auto* function = std::get_if<graph::HostFunctionPtr>(&arg)) {
    if ((*function)->saved.empty()) {
      throw ArgumentError("save",
                          fmt::format("the captured function calls the host function \"{}\", which a file cannot "
                                      "hold; call it before or after the captured function",
                                      (*function)->name));
    }
    tag(SavedArg::host);
    word((*function)->saved);
  } else {
    tag(SavedArg::none);
  }
}

void SavedWriter::node(const Node& n) {
  const bool mark = n.op == graph::Op::Mark;  // says nothing of elements
  word(graph::name(mark ? graph::Op::Reshape : n.op));
  dtype(n.dtype);
  numbers(n.shape);
  argument(mark ? graph::Arg() : n.arg);
  site(n.site);
  const bool laid_out = n.op == Op::Const && n.found;
  const bool any = (n.op == Op::Reshape || laid_out) && n.layout_class == graph::LayoutClass::Any;
  out_.u8(static_cast<std::uint8_t>((n.mirrored ? kMirrored : 0) | (n.broadcast ? kBroadcast : 0) |
                                    (any ? kLayoutAny : 0) | (n.axis_strides ? kHasStrides : 0) |
                                    (laid_out ? kHasLayout : 0)));
  if (laid_out) {
    numbers(n.found->layout.shape);  // a broadcast operand has its own layout
    numbers(n.found->layout.strides);
    numbers(n.found->memory);
  }
  if (!n.axis_strides) return;
  out_.u32(n.axis_strides->size());
  for (const graph::AxisStride& axis : *n.axis_strides) {
    number(axis.constant);
    out_.u32(axis.terms.size());
    for (const graph::AxisStride::Term& term : axis.terms) {
      out_.u32(term.axis);
      number(term.factor);
    }
  }
}

void SavedWriter::movements(const std::vector<NodePtr>& list) {
  out_.u32(list.size());
  for (const NodePtr& movement : list) node(*movement);
}

void SavedWriter::realized_kind(const graph::RealizedKind& kind) {
  dtype(kind.dtype);
  numbers(kind.shape);
  out_.u8(static_cast<std::uint8_t>(kind.layout_class));
  if (kind.layout_class != graph::LayoutClass::RowMajor) numbers(kind.found->layout.strides);
  site(kind.site);
}

}  // namespace oriel::api
