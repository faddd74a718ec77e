#include "capture/file/saved.hpp"

#include <atomic>
#include <memory>

#include "backend/backend.hpp"
#include "base/context.hpp"
#include "graph/layout.hpp"
#include "oriel/error.hpp"
#include "sym/build.hpp"
#include "sym/parse.hpp"
#include "view/layouts/density_predicate.hpp"

namespace oriel::api {

namespace {

/// File names of sites, which outlive every entry: errors and profiles may name them later. Each name is kept once.
struct FileName {
  std::string text;
  const FileName* next;
};
std::atomic<const FileName*> file_names{nullptr};

const char* interned_file_name(std::string_view text) {
  const FileName* head = file_names.load(std::memory_order_acquire);
  for (const FileName* name = head; name != nullptr; name = name->next)
    if (name->text == text) return name->text.c_str();
  auto fresh = std::make_unique<FileName>(FileName{std::string(text), head});
  while (!file_names.compare_exchange_weak(fresh->next, fresh.get(), std::memory_order_acq_rel)) {
  }
  return fresh.release()->text.c_str();
}

}  // namespace

SavedReader::SavedReader(ByteReader& bytes, const LoadOptions& options)
    : bytes_(bytes), first_device_(options.device.value_or(default_device())) {
  for (std::size_t n = bytes_.count(8); n > 0; --n) words_.push_back(bytes_.text());
  const std::size_t devices = bytes_.count(2);
  for (std::size_t k = 0; k < devices; ++k) {
    const auto kind = static_cast<DeviceKind>(bytes_.u8_below(backend::device_kinds(), "a kind of device"));
    devices_.push_back({kind, bytes_.u8(), first_device_.context});
  }
  if (devices == 1) devices_[0] = first_device_;
  if (devices > 1) {
    if (options.device)
      throw ArgumentError("load_function",
                          fmt::format("\"{}\" holds a function of {} devices, which cannot all be {}; leave out "
                                      "LoadOptions::device",
                                      base::escaped(bytes_.path()), devices, options.device->str()));
    first_device_ = devices_[0];
  }
  for (const Device d : devices_) static_cast<void>(backend::backend_for(d));
}

void SavedReader::check(bool holds, std::string_view rule) const {
  if (!holds) bytes_.fail(fmt::format("is damaged: {}", rule));
}

Device SavedReader::device() {
  const std::uint32_t k = bytes_.below(devices_.size() + 1, "a device");
  return k == devices_.size() ? first_device_ : devices_[k];
}

Site SavedReader::site() {
  const std::string_view raw = word();
  const std::int64_t line = bytes_.i64();
  check(line >= 0 && line <= 1 << 30, "a line has no such number");
  check(raw.find('\0') == std::string_view::npos, "a file's name holds a zero byte");
  const std::string file = base::escaped(raw);
  return file.empty() ? Site::unknown() : Site(Site::Kind::line, interned_file_name(file), static_cast<int>(line));
}

sym::Expr SavedReader::expression() {
  const std::string_view text = word();
  check(environment_ != nullptr, "an expression stands where only a number can");
  if (const auto known = expressions_.find(text); known != expressions_.end()) return known->second;
  const sym::Expr read = sym::parse(environment_->pool, text, [&](std::string_view name) -> sym::Expr {
    const auto* symbol = environment_->symbols.find(name);
    return symbol == nullptr ? nullptr : symbol->expr;
  });
  expressions_.emplace(text, read);
  return read;
}

sym::Expr SavedReader::condition() {
  const auto kind =
      static_cast<SavedGuard>(bytes_.u8_below(static_cast<std::size_t>(SavedGuard::count), "a kind of guard"));
  check(environment_ != nullptr, "a guard stands where no size is a symbol");
  if (kind != SavedGuard::text) {
    std::vector<sym::Expr> arguments;
    for (const SymInt n : numbers()) arguments.push_back(sym::expression_in(*environment_, n));
    check(!arguments.empty() && arguments.size() % 2 == 0, "there is not one stride a size");
    const sym::Expr dense = detail::density_predicate(arguments);
    return kind == SavedGuard::dense ? dense : sym::logical_not(dense);
  }
  const sym::Expr read = expression();
  check(read->is_condition(), "a guard is no condition");
  return read;
}

SymInt SavedReader::number() {
  if (!bytes_.flag()) {
    const std::int64_t n = bytes_.i64();
    return n;
  }
  const sym::Expr read = expression();
  check(!read->is_condition(), "a size is no number");
  return SymInt(read);
}

Ints SavedReader::numbers() {
  Ints out;
  for (std::size_t n = bytes_.count(5); n > 0; --n) out.push_back(number());
  return out;
}

Shape SavedReader::shape() {
  Shape out = numbers();
  for (const SymInt n : out)
    if (!n.is_symbolic()) check(n.value() >= 0, "an extent is negative");
  return out;
}

Ranges SavedReader::ranges() {
  Ranges out;
  for (std::size_t n = bytes_.count(10); n > 0; --n) {
    const SymInt lo = number();
    out.push_back({lo, number()});
  }
  return out;
}

View SavedReader::view() {
  View out;
  out.shape = shape();
  out.strides = numbers();
  out.offset = number();
  out.mask = ranges();
  check(out.strides.size() == out.shape.size() && (out.mask.empty() || out.mask.size() == out.shape.size()),
        "a view's parts have several ranks");
  return out;
}

graph::RealizedKind SavedReader::realized_kind() {
  graph::RealizedKind kind;
  kind.dtype = dtype();
  kind.shape = shape();
  kind.layout_class = static_cast<graph::LayoutClass>(bytes_.u8_below(3, "a class of layouts"));
  if (kind.layout_class != graph::LayoutClass::RowMajor)
    kind.found = graph::found_layout(Layout::make(kind.shape, numbers()));
  kind.site = site();
  return kind;
}

}  // namespace oriel::api
