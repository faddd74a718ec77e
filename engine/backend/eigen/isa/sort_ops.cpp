// Sorts the columns of a tile: 16 lines at a time by Green's network, then by Batcher's bitonic merges. The first step
// of each merge is mirrored, so every exchange puts the smaller element into the lower line. Columns of any length then
// need no special case: a missing line would hold the largest number and would never move.
#include <algorithm>
#include <iterator>
#include <utility>

#include "backend/eigen/isa/level.hpp"

// Unrolled, the networks are a third of a level's code: the profile small goes without (-Os).
#ifdef __OPTIMIZE_SIZE__
#define ORIEL_SORT_UNROLL
#else
#define ORIEL_SORT_UNROLL ORIEL_UNROLL
#endif

namespace oriel::backend::isa::ORIEL_ISA_LEVEL {
namespace {

/// A register of keys. A line of 64 bytes has kStrips of them. Each strip of the tile is sorted by itself, so that
/// the lines of a block fit the registers of every level.
template <class T>
struct SortLine {
  typedef T Lanes __attribute__((vector_size(kVectorBytes), may_alias, aligned(kVectorBytes)));
};
template <class T>
using Lanes = typename SortLine<T>::Lanes;
constexpr std::int64_t kStrips = 64 / kVectorBytes;

template <class T>
struct Keys {
  using Item = Lanes<T>;
  Item* tile;
  void load(std::int64_t i, Item& item) const { item = tile[i * kStrips]; }
  void store(std::int64_t i, const Item& item) const { tile[i * kStrips] = item; }
  Keys from(std::int64_t i) const { return {tile + i * kStrips}; }
  static EIGEN_STRONG_INLINE void exchange(Item& low, Item& high) {
    const Item a = low;
    const Item b = high;
    low = a < b ? a : b;
    high = a < b ? b : a;
  }
};

struct Pairs {
  using Part = Lanes<std::int64_t>;
  struct Item {
    Part key, position;
  };
  Part* keys;
  Part* positions;
  void load(std::int64_t i, Item& item) const { item = {keys[i * kStrips], positions[i * kStrips]}; }
  void store(std::int64_t i, const Item& item) const {
    keys[i * kStrips] = item.key;
    positions[i * kStrips] = item.position;
  }
  Pairs from(std::int64_t i) const { return {keys + i * kStrips, positions + i * kStrips}; }
  static EIGEN_STRONG_INLINE void exchange(Item& low, Item& high) {
    const Item a = low;
    const Item b = high;
    const auto first = (a.key < b.key) | ((a.key == b.key) & (a.position < b.position));
    low = {first ? a.key : b.key, first ? a.position : b.position};
    high = {first ? b.key : a.key, first ? b.position : a.position};
  }
};

constexpr int kBlock16 = static_cast<int>(kSortLines);
static_assert(kBlock16 == 16);

constexpr int kExchanges[][2] = {
    {0, 1},  {2, 3},  {4, 5},   {6, 7},   {8, 9},  {10, 11}, {12, 13}, {14, 15}, {0, 2},  {1, 3},   {4, 6},   {5, 7},
    {8, 10}, {9, 11}, {12, 14}, {13, 15}, {0, 4},  {1, 5},   {2, 6},   {3, 7},   {8, 12}, {9, 13},  {10, 14}, {11, 15},
    {0, 8},  {1, 9},  {2, 10},  {3, 11},  {4, 12}, {5, 13},  {6, 14},  {7, 15},  {5, 10}, {6, 9},   {3, 12},  {13, 14},
    {4, 8},  {7, 11}, {1, 2},   {1, 4},   {7, 13}, {2, 8},   {11, 14}, {2, 4},   {5, 6},  {9, 10},  {11, 13}, {3, 8},
    {7, 12}, {6, 8},  {10, 12}, {3, 5},   {7, 9},  {3, 4},   {5, 6},   {7, 8},   {9, 10}, {11, 12}, {6, 7},   {8, 9}};

/// Sixteen lines, held in registers.
template <class Of>
struct Block {
  typename Of::Item line[kBlock16];
  explicit Block(const Of& tile) {
    ORIEL_SORT_UNROLL
    for (int i = 0; i < kBlock16; ++i) tile.load(i, line[i]);
  }
  void store(const Of& tile) const {
    ORIEL_SORT_UNROLL
    for (int i = 0; i < kBlock16; ++i) tile.store(i, line[i]);
  }
  template <int distance>
  EIGEN_STRONG_INLINE void step() {
    ORIEL_SORT_UNROLL
    for (int i = 0; i < kBlock16; ++i) {
      if ((i & distance) == 0) Of::exchange(line[i], line[i + distance]);
    }
  }
  /// Green's network takes 60 exchanges. Merging by halves would take 80.
#ifdef __OPTIMIZE_SIZE__
  void sort() {
    for (const auto& [low, high] : kExchanges) Of::exchange(line[low], line[high]);
  }
#else
  void sort() { sort(std::make_index_sequence<std::size(kExchanges)>()); }
  template <std::size_t... i>
  EIGEN_STRONG_INLINE void sort(std::index_sequence<i...>) {
    (Of::exchange(line[kExchanges[i][0]], line[kExchanges[i][1]]), ...);
  }
#endif
  void finish_merge() {
    step<8>();
    step<4>();
    step<2>();
    step<1>();
  }
};

/// The exchanges of lines `half` apart, then of lines half / 2 apart.
template <class Of>
void two_steps(const Of& tile, std::int64_t half) {
  const std::int64_t quarter = half / 2;
  for (std::int64_t i = 0; i < quarter; ++i) {
    typename Of::Item a, b, c, d;
    tile.load(i, a);
    tile.load(i + quarter, b);
    tile.load(i + half, c);
    tile.load(i + half + quarter, d);
    Of::exchange(a, c);
    Of::exchange(b, d);
    Of::exchange(a, b);
    Of::exchange(c, d);
    tile.store(i, a);
    tile.store(i + quarter, b);
    tile.store(i + half, c);
    tile.store(i + half + quarter, d);
  }
}

/// The first two steps of a merge of `size` lines: the mirrored step, then the exchanges of lines a quarter of `size`
/// apart.
template <class Of>
void two_mirrored_steps(const Of& tile, std::int64_t size) {
  const std::int64_t quarter = size / 4;
  for (std::int64_t i = 0; i < quarter; ++i) {
    const std::int64_t mirror = size - 1 - i;
    typename Of::Item a, b, c, d;
    tile.load(i, a);
    tile.load(i + quarter, b);
    tile.load(mirror - quarter, c);
    tile.load(mirror, d);
    Of::exchange(a, d);
    Of::exchange(b, c);
    Of::exchange(a, b);
    Of::exchange(c, d);
    tile.store(i, a);
    tile.store(i + quarter, b);
    tile.store(mirror - quarter, c);
    tile.store(mirror, d);
  }
}

template <class Of>
void exchange_lines(const Of& tile, std::int64_t i, std::int64_t j) {
  typename Of::Item low, high;
  tile.load(i, low);
  tile.load(j, high);
  Of::exchange(low, high);
  tile.store(i, low);
  tile.store(j, high);
}
// One step over `lines` lines, which may end before the step does.
template <class Of>
void one_step(const Of& tile, std::int64_t half, std::int64_t lines) {
  for (std::int64_t i = 0; i < half && i + half < lines; ++i) exchange_lines(tile, i, i + half);
}
template <class Of>
void one_mirrored_step(const Of& tile, std::int64_t size, std::int64_t lines) {
  for (std::int64_t i = std::max<std::int64_t>(0, size - lines); i < size / 2; ++i)
    exchange_lines(tile, i, size - 1 - i);
}

/// The steps of a merge that go through memory: exchanges of lines at least 16 apart.
template <class Of>
void far_steps(const Of& tile, std::int64_t size, std::int64_t lines) {
  std::int64_t half = size / 2;
  if (size <= lines && half / 2 >= kBlock16) {
    two_mirrored_steps(tile, size);
    half /= 2;
  } else {
    one_mirrored_step(tile, size, lines);
  }
  for (half /= 2; half >= kBlock16; half /= 2) {
    const bool two = half / 2 >= kBlock16;
    for (std::int64_t at = 0; at < size && at < lines; at += 2 * half) {
      const Of part = tile.from(at);
      if (two && at + 2 * half <= lines) {
        two_steps(part, half);
        continue;
      }
      one_step(part, half, lines - at);
      if (!two) continue;
      one_step(part, half / 2, lines - at);
      if (at + half < lines) one_step(part.from(half), half / 2, lines - at - half);
    }
    if (two) half /= 2;
  }
}

template <class Of>
void sort_lines(const Of& tile, std::int64_t lines) {
  for (std::int64_t at = 0; at < lines; at += kBlock16) {
    Block<Of> block(tile.from(at));
    block.sort();
    block.store(tile.from(at));
  }
  for (auto size = std::int64_t{2} * kBlock16; size / 2 < lines; size *= 2) {
    for (std::int64_t at = 0; at < lines; at += size) {
      if (at + size / 2 >= lines) continue;  // only one half exists, and it is sorted
      far_steps(tile.from(at), size, lines - at);
      for (std::int64_t from = at; from < at + size && from < lines; from += kBlock16) {
        Block<Of> block(tile.from(from));
        block.finish_merge();
        block.store(tile.from(from));
      }
    }
  }
}

template <class T>
void sort_columns(void* tile, std::int64_t lines) {
  for (std::int64_t s = 0; s < kStrips; ++s) sort_lines(Keys<T>{static_cast<Lanes<T>*>(tile) + s}, lines);
}
void sort_pairs(void* keys, void* positions, std::int64_t lines) {
  using Part = Pairs::Part;
  for (std::int64_t s = 0; s < kStrips; ++s)
    sort_lines(Pairs{static_cast<Part*>(keys) + s, static_cast<Part*>(positions) + s}, lines);
}

/// The keys of signed integers are the integers.
template <class T>
struct SignedOrder {
  using Key = T;
  static Key key(T bits) { return bits; }
  static T bits(Key key) { return key; }
};
template <class T>
struct UnsignedOrder {
  using Key = std::make_signed_t<T>;
  static constexpr T kTop = static_cast<T>(T{1} << (8 * sizeof(T) - 1));
  static Key key(T bits) { return static_cast<Key>(bits ^ kTop); }
  static T bits(Key key) { return static_cast<T>(static_cast<T>(key) ^ kTop); }
};
/// Reinterprets a float's bits as an integer whose order is the float's order. For negative numbers all bits but the
/// sign are inverted. `infinity` holds the bits of that value.
template <class T, T infinity>
struct FloatOrder {
  using Key = T;
  static constexpr T kMost = std::numeric_limits<T>::max();
  static T mirrored(T bits) { return static_cast<T>(bits ^ (static_cast<T>(bits >> (8 * sizeof(T) - 1)) & kMost)); }
  static Key key(T bits) { return static_cast<T>(bits & kMost) > infinity ? kMost : mirrored(bits); }
  static T bits(Key key) { return mirrored(key); }
};
template <class T, T infinity>
constexpr bool is_float_order(FloatOrder<T, infinity>*) {
  return true;
}
constexpr bool is_float_order(void*) { return false; }

template <class T, class Order>
void keys_of(void* keys, const void* x, std::int64_t n) {
  auto* k = static_cast<typename Order::Key*>(keys);
  const T* v = static_cast<const T*>(x);
  ORIEL_VECTOR_LOOP
  for (std::int64_t i = 0; i < n; ++i) k[i] = Order::key(v[i]);
}
template <class T, class Order>
void elements_of(void* x, const void* keys, std::int64_t n) {
  T* v = static_cast<T*>(x);
  const auto* k = static_cast<const typename Order::Key*>(keys);
  ORIEL_VECTOR_LOOP
  for (std::int64_t i = 0; i < n; ++i) v[i] = Order::bits(k[i]);
}
template <class T, class Order>
void wide_keys_of(void* keys, const void* x, std::int64_t n, bool descending) {
  auto* k = static_cast<std::int64_t*>(keys);
  const T* v = static_cast<const T*>(x);
  const std::int64_t flip = descending ? -1 : 0;
  constexpr int shift = sizeof(T) < 8 ? 32 : 0;
  ORIEL_VECTOR_LOOP
  for (std::int64_t i = 0; i < n; ++i) {
    typename Order::Key key = Order::key(v[i]);
    if constexpr (is_float_order(static_cast<Order*>(nullptr)))
      key = key == -1 ? typename Order::Key{0} : key;  // -0 counts as 0
    k[i] = static_cast<std::int64_t>(static_cast<std::uint64_t>(key ^ flip) << shift);
  }
}

template <class T, class Order>
void add_order(SortFns& fns, DType dtype) {
  const auto d = static_cast<std::size_t>(dtype);
  fns.keys[d] = keys_of<T, Order>;
  fns.elements[d] = elements_of<T, Order>;
  fns.wide_keys[d] = wide_keys_of<T, Order>;
}

}  // namespace

void add_sort_ops(Table& table) {
  SortFns& fns = table.sort;
  fns.columns[0] = sort_columns<std::int8_t>;
  fns.columns[1] = sort_columns<std::int16_t>;
  fns.columns[2] = sort_columns<std::int32_t>;
  fns.columns[3] = sort_columns<std::int64_t>;
  fns.pairs = sort_pairs;
  add_order<std::int8_t, SignedOrder<std::int8_t>>(fns, DType::bool_);
  add_order<std::int8_t, SignedOrder<std::int8_t>>(fns, DType::int8);
  add_order<std::int16_t, SignedOrder<std::int16_t>>(fns, DType::int16);
  add_order<std::int32_t, SignedOrder<std::int32_t>>(fns, DType::int32);
  add_order<std::int64_t, SignedOrder<std::int64_t>>(fns, DType::int64);
  add_order<std::uint8_t, UnsignedOrder<std::uint8_t>>(fns, DType::uint8);
  add_order<std::uint16_t, UnsignedOrder<std::uint16_t>>(fns, DType::uint16);
  add_order<std::uint32_t, UnsignedOrder<std::uint32_t>>(fns, DType::uint32);
  add_order<std::uint64_t, UnsignedOrder<std::uint64_t>>(fns, DType::uint64);
  add_order<std::int16_t, FloatOrder<std::int16_t, 0x7c00>>(fns, DType::float16);
  add_order<std::int16_t, FloatOrder<std::int16_t, 0x7f80>>(fns, DType::bfloat16);
  add_order<std::int32_t, FloatOrder<std::int32_t, 0x7f800000>>(fns, DType::float32);
  add_order<std::int64_t, FloatOrder<std::int64_t, 0x7ff0000000000000>>(fns, DType::float64);
}

}  // namespace oriel::backend::isa::ORIEL_ISA_LEVEL
