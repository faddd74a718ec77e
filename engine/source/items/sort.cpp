#include "source/items/mappings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "source/items/statements.hpp"

namespace oriel::source::items {
namespace {

using codegen::LoopProgram;
using codegen::Sorting;

// A pass over memory sorts by a digit of 8 bits, a pass over local memory by 4: each item counts those of its run.
constexpr int kDigit = 8, kLocalDigit = 4;
constexpr int kDigits = 1 << kDigit, kLocalDigits = 1 << kLocalDigit;
constexpr std::size_t kGroupItems = 256;
constexpr int kMostRun = 8;
// On a CPU a few items with long runs count less. Its compilers take a second for a tile of another size.
constexpr std::size_t kCpuItems = 16;
constexpr int kCpuRun = 128;
// Groups that share long rows, for each unit.
constexpr std::int64_t kGroupsOfUnit = 8;

WorkDivision work_of_sort(const LoopProgram& program) {
  WorkDivision work;
  work.wide = program.sorting->rows * program.sorting->extent > kMostNarrow;
  work.fp64 = program.arguments.front().dtype == DType::float64;
  return work;
}

class SortRenderer : private ItemStatementWriter {
 public:
  SortRenderer(const LoopProgram& program, const Dialect& dialect, const DeviceTraits& table)
      : ItemStatementWriter(program, dialect, table, work_of_sort(program)),
        sort_(*program.sorting),
        from_(program.arguments.front().dtype),
        to_(program.arguments.back().dtype),
        key_(itemsize(from_) > 4 ? DType::uint64 : DType::uint32),
        place_(sort_.extent > kMostNarrow ? DType::int64 : DType::int32),
        bits_(from_ == DType::bool_ ? 1
              : is_floating(from_)  ? 8 * static_cast<int>(itemsize(key_))
                                    : 8 * static_cast<int>(itemsize(from_))),
        cpu_(table.cpu) {
    const std::size_t most_items = cpu_ ? kCpuItems : kGroupItems;
    items_ = static_cast<int>(std::min(std::bit_floor(std::max<std::size_t>(table.group_size, 1)), most_items));
    run_ = cpu_ ? kCpuRun : kMostRun;
    while (items_ > 1 && local_bytes() > table.local_memory) (run_ > 1 ? run_ : items_) /= 2;
    // A short row takes as few items as it needs.
    const int step = cpu_ ? 8 : 2;
    while (run_ > step && run_ / step * items_ >= sort_.extent) run_ /= step;
    while (!cpu_ && items_ > 32 && run_ * items_ / 2 >= sort_.extent) items_ /= 2;
    alone_ = sort_.extent <= tile();
    const std::int64_t tiles = (sort_.extent + tile() - 1) / tile();
    const std::int64_t wanted = kGroupsOfUnit * table.units / std::max<std::int64_t>(sort_.rows, 1);
    const std::int64_t shares = std::clamp<std::int64_t>(wanted, 1, std::max<std::int64_t>(tiles, 1));
    share_ = (tiles + shares - 1) / shares * tile();
    shares_ = std::max<std::int64_t>((sort_.extent + share_ - 1) / share_, 1);
  }

  Rendered run() {
    Rendered out;
    Places partials;
    std::vector<std::string> bodies;
    const auto rows = static_cast<std::size_t>(sort_.rows);
    const auto grid = [&](std::size_t groups, std::size_t others) {
      const auto items = static_cast<std::size_t>(items_);
      out.grids.push_back({{items * groups, others, 1}, {items, 1, 1}});
    };
    if (alone_) {
      bodies.push_back(capture([&] { write_row(); }));
      grid(rows, 1);
    } else {
      out.passes = passes();
      const auto partial = [&](DType dtype, const std::string& name, std::int64_t elements) {
        partials.emplace_back(dtype, name);
        out.partial_bytes.push_back(elements * static_cast<std::int64_t>(itemsize(dtype)));
      };
      const std::int64_t all = sort_.rows * sort_.extent;
      for (int k = 0; k < std::min(passes() - 1, 2); ++k) {
        partial(key_, fmt::format("keys{}", k), all);
        if (sort_.positions) partial(place_, fmt::format("places{}", k), all);
      }
      partial(place_, "tallies", sort_.rows * kDigits * shares_);
      partial(place_, "totals", sort_.rows * kDigits);
      bodies.push_back(capture([&] { write_counts(); }));
      grid(static_cast<std::size_t>(shares_), rows);
      bodies.push_back(capture([&] { write_offsets(); }));
      grid(kDigits, rows);
      bodies.push_back(capture([&] { write_moves(); }));
      grid(static_cast<std::size_t>(shares_), rows);
    }
    out.method = alone_
                     ? fmt::format("a sort by digits: a row in the local memory of {} items", items_)
                     : fmt::format("a sort by digits: {} passes, tiles of {} elements in local memory, {} groups a row",
                                   passes(), tile(), shares_);
    return finished(std::move(out), program_, bodies, partials);
  }

 private:
  int tile() const { return items_ * run_; }
  int passes() const { return (bits_ + kDigit - 1) / kDigit; }
  std::int64_t local_bytes() const {
    const std::size_t element = itemsize(key_) + (sort_.positions ? itemsize(place_) : 0);
    return padded(tile()) * static_cast<std::int64_t>(element) + padded(kLocalDigits * items_) * 2 +
           static_cast<std::int64_t>(itemsize(place_)) * (2 * items_ + kDigits) + 4 * kDigits;
  }

  std::string length() { return extent("sorted", sort_.extent); }
  std::string share_length() { return extent("share", share_); }
  std::string share_count() { return extent("shares", shares_); }
  void barrier() { line("{}", dialect_.barrier); }
  std::string key_type() const { return value_type(key_); }
  std::string place_type() const { return value_type(place_); }
  /// A number of the type of keys.
  std::string key_number(std::uint64_t value) const {
    return fmt::format("({}){:#x}{}", key_type(), value, key_ == DType::uint64 ? "ul" : "u");
  }
  std::uint64_t all_bits() const { return key_ == DType::uint64 ? ~std::uint64_t{0} : 0xffffffffu; }
  std::uint64_t sign() const { return all_bits() / 2 + 1; }
  /// What is added to an integer, so that the lowest one has the key 0.
  std::uint64_t lift() const {
    return is_unsigned(from_) || from_ == DType::bool_ ? 0 : std::uint64_t{1} << (bits_ - 1);
  }

  void unroll() {
    if (!cpu_) line("#pragma unroll");
  }
  template <class Body>
  void each_of_run(const Body& body) {
    unroll();
    open("for (int e = 0; e < {}; ++e) {{", run_);
    body();
    close();
  }
  /// Walks through a tile so that neighbouring items have neighbouring elements k.
  template <class Body>
  void across_tile(const std::string& count, const Body& body) {
    each_of_run([&] {
      line("const int k = e * {} + item;", items_);
      open("if (k < {}) {{", count);
      body();
      close();
    });
  }
  /// The items go through [0, count) together.
  template <class Body>
  void shared_out(int count, const Body& body) {
    open("for (int d = item; d < {}; d += {}) {{", count, items_);
    body();
    close();
  }

  /// Sets `key` to the key of the argument's element at a position.
  void write_key_of_element(const std::string& at) {
    const std::string element = helpers_.load_one(from_, buffers_.front(), at);
    if (!is_floating(from_)) {
      const std::string wide = fmt::format("({})({})", key_type(), element);
      line("key = {}({} + {}){};", flipped(), wide, key_number(lift()), mask());
      return;
    }
    const DType value = codegen::register_dtype(from_);
    line("key = {};", dialect_.bits_as(value_type(key_), fmt::format("({})({})", value_type(value), element)));
    const std::uint64_t infinity = key_ == DType::uint64 ? 0x7ff0000000000000u : 0x7f800000u;
    line("const bool none = (key & {}) > {};", key_number(all_bits() / 2), key_number(infinity));
    // Positions keep the order of zeros of both signs.
    if (sort_.positions) line("if ((key << 1) == 0) key = 0;");
    line("key = key & {0} ? ~key : key | {0};", key_number(sign()));
    line("if (none) key = {};", key_number(all_bits()));
    if (sort_.descending) line("key = ~key;");
  }
  std::string flipped() const { return sort_.descending ? "~" : ""; }
  /// Keys of short integers have no bits above theirs, of descending ones neither.
  std::string mask() const {
    return bits_ >= 32 ? "" : fmt::format(" & {}", key_number((std::uint64_t{1} << bits_) - 1));
  }

  /// Stores what has a key in the result.
  void store_result(const std::string& at, const std::string& key, const std::string& place) {
    if (sort_.positions) return line("{}[{}] = {};", buffers_.back(), at, dialect_.converted(value_type(to_), place));
    if (!is_floating(from_)) {
      const std::string number = fmt::format("({}{}{}) - {}", flipped(), key, mask(), key_number(lift()));
      return line("{};",
                  helpers_.store_one(to_, buffers_.back(), at, fmt::format("({})({})", value_type(to_), number)));
    }
    open("{{");
    line("const {} sorted = {}{};", key_type(), flipped(), key);
    line("const {0} bits = sorted & {1} ? sorted ^ {1} : ~sorted;", key_type(), key_number(sign()));
    line("{};", helpers_.store_one(to_, buffers_.back(), at,
                                   dialect_.bits_as(value_type(codegen::register_dtype(from_)), "bits")));
    close();
  }

  void declare_tile() {
    line("{};", dialect_.local_array(key_type(), "keys", padded(tile())));
    if (sort_.positions) line("{};", dialect_.local_array(place_type(), "places", padded(tile())));
    line("{};", dialect_.local_array(value_type(DType::uint16), "counts", padded(kLocalDigits * items_)));
    declare_sums();
  }
  void declare_sums() { line("{};", dialect_.local_array(place_type(), "sums", 2 * items_)); }

  /// Turns each item's `sum` into the sum of those before it; `all` is the sum of all. Starts and ends with a barrier.
  void write_sums_before() {
    line("int side = 0;");
    line("sums[item] = sum;");
    open("for (int apart = 1; apart < {}; apart *= 2) {{", items_);
    barrier();
    line("if (item >= apart) sum += sums[side + item - apart];");
    line("side = {} - side;", items_);
    line("sums[side + item] = sum;");
    close();
    barrier();
    line("sum = item > 0 ? sums[side + item - 1] : 0;");
    line("const {} all = sums[side + {}];", place_type(), items_ - 1);
    barrier();
  }

  /// Sorts the tile by the local digit at `bit`. The tile is full: what is missing has the largest key.
  void write_split() {
    const std::string mine = slot(fmt::format("item * {} + e", run_));
    const std::string own = slot(fmt::format("(int)((key[e] >> bit) & {}) * {} + item", kLocalDigits - 1, items_));
    line("{} key[{}];", key_type(), run_);
    if (sort_.positions) line("{} place[{}];", place_type(), run_);
    line("int before[{}];", run_);
    unroll();
    line("for (int d = 0; d < {}; ++d) counts[{}] = 0;", kLocalDigits, slot(fmt::format("d * {} + item", items_)));
    each_of_run([&] {
      line("key[e] = keys[{}];", mine);
      if (sort_.positions) line("place[e] = places[{}];", mine);
      line("const int own = {};", own);
      line("before[e] = counts[own];");
      line("counts[own] = before[e] + 1;");
    });
    barrier();
    line("{} sum = 0;", place_type());
    const std::string part = slot(fmt::format("item * {} + d", kLocalDigits));
    unroll();
    line("for (int d = 0; d < {}; ++d) sum += counts[{}];", kLocalDigits, part);
    write_sums_before();
    unroll();
    open("for (int d = 0; d < {}; ++d) {{", kLocalDigits);
    line("const int at = {};", part);
    line("const int count = counts[at];");
    line("counts[at] = sum;");
    line("sum += count;");
    close();
    barrier();
    each_of_run([&] {
      line("const int to = counts[{}] + before[e];", own);
      line("keys[{}] = key[e];", slot("to"));
      if (sort_.positions) line("places[{}] = place[e];", slot("to"));
    });
    barrier();
  }

  void write_row() {
    line("const int item = (int){};", dialect_.local_id(0));
    line("const {0} start = ({0}){1} * {2};", int_, dialect_.group_id(0), length());
    declare_tile();
    each_of_run([&] {
      line("const int k = e * {} + item;", items_);
      line("{} key = {};", key_type(), key_number(all_bits()));
      open("if (k < {}) {{", length());
      write_key_of_element("start + k");
      close();
      line("keys[{}] = key;", slot("k"));
      if (sort_.positions) line("places[{}] = k;", slot("k"));
    });
    barrier();
    open("for (int bit = 0; bit < {}; bit += {}) {{", bits_, kLocalDigit);
    write_split();
    close();
    across_tile(length(), [&] { store_result("start + k", tile_key("k"), tile_place("k")); });
  }
  std::string tile_key(const std::string& k) const { return fmt::format("keys[{}]", slot(k)); }
  std::string tile_place(const std::string& k) const { return fmt::format("places[{}]", slot(k)); }

  // --- rows in shares -----------------------------------------------------------------------------------------------

  void write_share() {
    line("const int item = (int){};", dialect_.local_id(0));
    line("const {0} share = ({0}){1}, row = ({0}){2};", int_, dialect_.group_id(0), dialect_.group_id(1));
    line("const {0} start = row * {1};", int_, length());
    line("const {0} begin = share * {1}, end = min(({0}){2}, begin + {1});", int_, share_length(), length());
  }
  /// The memory that a pass reads (or writes), after the first (before the last).
  std::string between(const std::string& name, bool reads) const {
    if (passes() <= 2) return name + "0";
    return fmt::format("(pass & 1 ? {0}{1} : {0}{2})", name, reads ? 0 : 1, reads ? 1 : 0);
  }
  /// Declares and reads `key` of the element at a position of the row.
  void read_key(const std::string& at) {
    line("{} key;", key_type());
    if (passes() > 1) open("if (pass == 0) {{");
    write_key_of_element("start + " + at);
    if (passes() == 1) return;
    close();
    line("else key = {}[start + {}];", between("keys", true), at);
  }
  static std::string digit(const std::string& key) {
    return fmt::format("(int)(({}) >> ({} * pass)) & {}", key, kDigit, kDigits - 1);
  }
  /// The number of a digit in a share.
  std::string tally(const std::string& d) {
    return fmt::format("tallies[(row * {} + {}) * {} + share]", kDigits, d, share_count());
  }

  void write_counts() {
    write_share();
    line("{};", dialect_.local_array("int", "found", kDigits));
    shared_out(kDigits, [&] { line("found[d] = 0;"); });
    barrier();
    open("for ({0} at = begin + item; at < end; at += {1}) {{", int_, items_);
    read_key("at");
    line("{};", dialect_.increment(fmt::format("found + ({})", digit("key"))));
    close();
    barrier();
    shared_out(kDigits, [&] { line("{} = found[d];", tally("d")); });
  }

  /// Replaces the numbers of a digit in the shares by how many are before each share.
  void write_offsets() {
    line("const int item = (int){};", dialect_.local_id(0));
    line("const {0} line = ({0}){2} * {1} + {3};", int_, kDigits, dialect_.group_id(1), dialect_.group_id(0));
    declare_sums();
    line("{} carry = 0;", place_type());
    open("for (int first = 0; first < {}; first += {}) {{", share_count(), items_);
    line("const bool inside = first + item < {};", share_count());
    line("const {0} at = line * {1} + first + item;", int_, share_count());
    line("{} sum = inside ? tallies[at] : 0;", place_type());
    write_sums_before();
    line("if (inside) tallies[at] = carry + sum;");
    line("carry += all;");
    close();
    line("if (item == 0) totals[line] = carry;");
  }

  void write_moves() {
    write_share();
    declare_tile();
    line("{};", dialect_.local_array(place_type(), "base", kDigits));
    line("{};", dialect_.local_array("int", "first", kDigits));
    // Where the elements of each digit go: behind those of smaller digits, and of the same digit in earlier shares.
    const int some = std::max(kDigits / items_, 1);
    open("{{");
    line("{} sum = 0;", place_type());
    const std::string own = fmt::format("item * {} + k", some);
    line("for (int k = 0; k < {}; ++k) sum += totals[row * {} + {}];", some, kDigits, own);
    write_sums_before();
    open("for (int k = 0; k < {}; ++k) {{", some);
    line("const int d = {};", own);
    line("base[d] = sum + {};", tally("d"));
    line("sum += totals[row * {} + d];", kDigits);
    close();
    close();
    open("for ({0} tile = begin; tile < end; tile += {1}) {{", int_, tile());
    line("const int count = (int)min(({}){}, end - tile);", int_, tile());
    each_of_run([&] {
      line("const int k = e * {} + item;", items_);
      line("{} kept = {};", key_type(), key_number(all_bits()));
      if (sort_.positions) line("{} place = 0;", place_type());
      open("if (k < count) {{");
      read_key("tile + k");
      line("kept = key;");
      if (sort_.positions) {
        const std::string here = fmt::format("({})(tile + k)", place_type());
        line("place = {};", passes() == 1
                                ? here
                                : fmt::format("pass == 0 ? {} : {}[start + tile + k]", here, between("places", true)));
      }
      close();
      line("keys[{}] = kept;", slot("k"));
      if (sort_.positions) line("places[{}] = place;", slot("k"));
    });
    barrier();
    open("for (int bit = {0} * pass; bit < {0} * pass + {0}; bit += {1}) {{", kDigit, kLocalDigit);
    write_split();
    close();
    // Each digit is now one run of the tile.
    across_tile("count", [&] {
      line("const int d = {};", digit(tile_key("k")));
      line("if (k == 0 || ({}) != d) first[d] = k;", digit(tile_key("k - 1")));
    });
    barrier();
    across_tile("count", [&] {
      line("const int d = {};", digit(tile_key("k")));
      line("const {} to = start + base[d] + k - first[d];", int_);
      if (passes() > 1) {
        open("if (pass < {}) {{", passes() - 1);
        line("{}[to] = {};", between("keys", false), tile_key("k"));
        if (sort_.positions) line("{}[to] = {};", between("places", false), tile_place("k"));
        close();
        open("else {{");
      }
      store_result("to", tile_key("k"), tile_place("k"));
      if (passes() > 1) close();
    });
    barrier();
    across_tile("count", [&] {
      line("const int d = {};", digit(tile_key("k")));
      line("if (k == count - 1 || ({}) != d) base[d] += k + 1 - first[d];", digit(tile_key("k + 1")));
    });
    barrier();
    close();
  }

  const Sorting& sort_;
  const DType from_, to_;
  const DType key_, place_;
  const int bits_;
  const bool cpu_;
  int items_ = 1, run_ = 1;
  bool alone_ = false;
  std::int64_t share_ = 1, shares_ = 1;
};

}  // namespace

std::optional<Rendered> render_sort(const LoopProgram& program, const Dialect& dialect, const DeviceTraits& table) {
  if (!program.sorting) return std::nullopt;
  return SortRenderer(program, dialect, table).run();
}

}  // namespace oriel::source::items
