// Reductions over windows. Each packet holds neighbouring results; their elements are read in place.
#include <utility>

#include "backend/eigen/isa/vectors.hpp"

namespace oriel::backend::isa::ORIEL_ISA_LEVEL {
namespace {

/// Reduces the elements of a lane (in the order of reductions).
template <class T, class Op, int Packets>
struct WindowLane {
  const WindowRows& q;
  const T* x;
  __attribute__((always_inline)) void operator()(std::int64_t lane, Vector<T> (&sum)[Packets]) const {
    const T* first = x + q.taps[lane];
    ORIEL_UNROLL
    for (int k = 0; k < Packets; ++k) sum[k] = load<T>(first + k * kSize<T>);
    for (std::int64_t r = lane + kLanes; r < q.count; r += kLanes) {
      const T* next = x + q.taps[r];
      ORIEL_UNROLL
      for (int k = 0; k < Packets; ++k) sum[k] = Op::of(sum[k], load<T>(next + k * kSize<T>));
    }
  }
};

/// Floats: elements are combined in the order of all reductions.
template <class T, class Op>
struct InLanes {
  // join_vectors keeps a partial result on each of five levels, so few packets fit the registers.
  static constexpr int kMost = kFew ? 1 : kVectorBytes == 64 ? 4 : 2;
  static constexpr bool kTails = false;
  template <int Packets>
  static void run(const WindowRows& q, const T* x, T* out) {
    Vector<T> sum[Packets];
    join_vectors<Op>(q.count, WindowLane<T, Op, Packets>{q, x}, sum);
    // Lanes begin at the identity 0. Adding it turns a sum of -0 alone into 0, as the fixed order does.
    const Vector<T> zero{};
    ORIEL_UNROLL
    for (int k = 0; k < Packets; ++k) store<T>(out + k * kSize<T>, std::is_same_v<Op, Sum> ? sum[k] + zero : sum[k]);
  }
};

/// Integers: every order gives the same result.
template <class T, class Op>
struct InTurn {
  static constexpr int kMost = kFew ? 1 : 4;
  static constexpr bool kTails = !kFew;
  template <int Packets>
  static void run(const WindowRows& q, const T* x, T* out) {
    Vector<T> sum[Packets];
    ORIEL_UNROLL
    for (int k = 0; k < Packets; ++k) sum[k] = load<T>(x + q.taps[0] + k * kSize<T>);
    for (std::int64_t r = 1; r < q.count; ++r) {
      const T* next = x + q.taps[r];
      ORIEL_UNROLL
      for (int k = 0; k < Packets; ++k) sum[k] = Op::of(sum[k], load<T>(next + k * kSize<T>));
    }
    ORIEL_UNROLL
    for (int k = 0; k < Packets; ++k) store<T>(out + k * kSize<T>, sum[k]);
  }
};

/// Sums of products, added one after the other starting at 0, as in a block of a matrix product.
template <class T>
struct Weighed {
  static constexpr int kMost = kPlain ? 1 : 4;
  static constexpr bool kTails = !kPlain;
  template <int Packets>
  static void run(const WindowRows& q, const T* x, T* out) {
    const T* weights = static_cast<const T*>(q.weights);
    if constexpr (std::is_floating_point_v<T>) {
      namespace in = Eigen::internal;
      using P = typename in::packet_traits<T>::type;
      static_assert(sizeof(P) == kVectorBytes);
      P sum[Packets];
      ORIEL_UNROLL
      for (int k = 0; k < Packets; ++k) sum[k] = in::pset1<P>(T(0));
      for (std::int64_t r = 0; r < q.count; ++r) {
        const P w = in::pset1<P>(weights[r]);
        const T* at = x + q.taps[r];
        ORIEL_UNROLL
        for (int k = 0; k < Packets; ++k) sum[k] = in::pmadd(in::ploadu<P>(at + k * kSize<T>), w, sum[k]);
      }
      ORIEL_UNROLL
      for (int k = 0; k < Packets; ++k) in::pstoreu(out + k * kSize<T>, sum[k]);
    } else {
      Vector<T> sum[Packets] = {};
      for (std::int64_t r = 0; r < q.count; ++r) {
        const T* at = x + q.taps[r];
        ORIEL_UNROLL
        for (int k = 0; k < Packets; ++k) sum[k] += load<T>(at + k * kSize<T>) * weights[r];
      }
      ORIEL_UNROLL
      for (int k = 0; k < Packets; ++k) store<T>(out + k * kSize<T>, sum[k]);
    }
  }
};

/// Taps that form a grid whose rows are as far apart as the windows of neighbouring result rows. One row of x then
/// serves one row of taps for each of several result rows.
struct TapGrid {
  std::int64_t height = 0;
  std::int64_t width = 0;
};
TapGrid grid_of(const WindowRows& q) {
  std::int64_t width = 1;
  while (width < q.count && q.taps[width] != q.taps[0] + q.x_row) ++width;
  if (q.count % width != 0) return {};
  for (std::int64_t r = width; r < q.count; ++r) {
    if (q.taps[r] != q.taps[r - width] + q.x_row) return {};
  }
  return {q.count / width, width};
}

// Registers hold the sums of `Height` result rows of this many packets, one weight per row, and one packet of x.
template <int Height>
constexpr int kGridPackets = kVectorBytes < 64 ? (15 - Height) / Height
                             : Height < 7      ? 4
                                               : 3;

/// Sums of products over a grid of taps, in the order of Weighed. Each packet of x is read once for all result rows
/// that it contributes to. The sums of `Height` result rows are kept in a ring. Each row of x completes one result row,
/// which is stored. The last of the packets begins at column `last`.
template <class T, int Height, int Packets>
void roll_rows(const WindowRows& q, const T* x, T* out, std::int64_t width, std::int64_t last) {
  namespace in = Eigen::internal;
  using P = typename in::packet_traits<T>::type;
  const T* weights = static_cast<const T*>(q.weights);
  const std::int64_t end = q.rows + Height - 1;
  const auto column = [&](int k) { return k == Packets - 1 ? last : k * kSize<T>; };
  P sum[Height][Packets];
  ORIEL_UNROLL
  for (int h = 0; h < Height; ++h) {
    ORIEL_UNROLL
    for (int k = 0; k < Packets; ++k) sum[h][k] = in::pset1<P>(T(0));
  }
  std::int64_t row = 0;
  // The result row that begins with this row of x has its sums in slot kPhase of the ring.
  const auto add_row = [&](auto phase) __attribute__((always_inline)) {
    constexpr int kPhase = decltype(phase)::value;
    ORIEL_UNROLL
    for (int k = 0; k < Packets; ++k) sum[kPhase][k] = in::pset1<P>(T(0));
    for (std::int64_t c = 0; c < width; ++c) {
      P w[Height];
      ORIEL_UNROLL
      for (int h = 0; h < Height; ++h) w[h] = in::pset1<P>(weights[h * width + c]);
      const T* at = x + q.taps[c];
      ORIEL_UNROLL
      for (int k = 0; k < Packets; ++k) {
        const P v = in::ploadu<P>(at + column(k));
        ORIEL_UNROLL
        for (int h = 0; h < Height; ++h) {
          P& s = sum[(kPhase - h + Height) % Height][k];
          s = in::pmadd(v, w[h], s);
        }
      }
    }
    if (row >= Height - 1) {
      ORIEL_UNROLL
      for (int k = 0; k < Packets; ++k) in::pstoreu(out + column(k), sum[(kPhase + 1) % Height][k]);
      out += q.out_row;
    }
    x += q.x_row;
    return ++row < end;
  };
  const auto add_rows = [&]<int... Phases>(std::integer_sequence<int, Phases...>) __attribute__((always_inline)) {
    return (add_row(std::integral_constant<int, Phases>{}) && ...);
  };
  while (add_rows(std::make_integer_sequence<int, Height>{})) {
  }
}

template <class T, int Height, int Packets>
void roll_some(const WindowRows& q, const T* x, T* out, std::int64_t width, std::int64_t packets, std::int64_t last) {
  if constexpr (Packets > 1) {
    if (packets < Packets) return roll_some<T, Height, Packets - 1>(q, x, out, width, packets, last);
  }
  roll_rows<T, Height, Packets>(q, x, out, width, last);
}

template <class T, int Height>
void roll(const WindowRows& q, std::int64_t width) {
  constexpr std::int64_t size = kSize<T>;
  constexpr std::int64_t most = kGridPackets<Height>;
  const T* x = static_cast<const T*>(q.x);
  T* out = static_cast<T*>(q.out);
  // The last packet ends where the row ends, so it may overwrite results of the one before with the same values.
  const std::int64_t packets = (q.columns + size - 1) / size;
  for (std::int64_t done = 0; done < packets; done += most) {
    const std::int64_t some = packets - done < most ? packets - done : most;
    const std::int64_t last = q.columns < size ? 0 : (done + some < packets ? (done + some) * size : q.columns) - size;
    roll_some<T, Height, most>(q, x + done * size, out + done * size, width, some, last - done * size);
  }
}

/// Way works on kMost packets of results at once; if kTails is true, on fewer as well.
template <class T, class Way>
void window_rows(const WindowRows& q) {
  constexpr int size = kSize<T>;
  constexpr int most = Way::kMost;
  constexpr std::int64_t together = std::int64_t{most} * size;
  const T* x = static_cast<const T*>(q.x);
  T* out = static_cast<T*>(q.out);
  for (std::int64_t i = 0; i < q.rows; ++i, x += q.x_row, out += q.out_row) {
    std::int64_t j = 0;
    for (; j + together <= q.columns; j += together) Way::template run<most>(q, x + j, out + j);
    if constexpr (Way::kTails) {
      static_assert(most == 4);
      // The last packets end where the row ends, so they may overwrite earlier results with the same values.
      const std::int64_t packets = (q.columns - j + size - 1) / size;
      const std::int64_t at = q.columns - packets * size;
      if (packets > 1 && at >= 0) {
        if (packets == 2) Way::template run<2>(q, x + at, out + at);
        if (packets == 3) Way::template run<3>(q, x + at, out + at);
        if (packets == 4) Way::template run<4>(q, x + at, out + at);
        continue;
      }
    }
    for (; j + size <= q.columns; j += size) Way::template run<1>(q, x + j, out + j);
    if (j < q.columns && j > 0) j = q.columns - size;
    if (j < q.columns) Way::template run<1>(q, x + j, out + j);
  }
}

/// Sums of products of floats. Uses the grid form if the taps form a grid.
template <class T>
void weighed_rows(const WindowRows& q) {
  if constexpr (!kPlain) {
    const TapGrid grid = grid_of(q);
    if (grid.height == 3) return roll<T, 3>(q, grid.width);
    if constexpr (!kFew) {
      if (grid.height == 5) return roll<T, 5>(q, grid.width);
    }
    if (grid.height == 7 && kVectorBytes == 64) return roll<T, 7>(q, grid.width);
  }
  window_rows<T, Weighed<T>>(q);
}

template <class T>
void add_window_floats(Table& t) {
  WindowFns& fns = t.window[kDTypeIndex<T>];
  fns.packet = kSize<T>;
  fns.weighed = weighed_rows<T>;
  fns.reduce[reduce_index(graph::Op::Sum)] = window_rows<T, InLanes<T, Sum>>;
  fns.reduce[reduce_index(graph::Op::ReduceMax)] = window_rows<T, InLanes<T, Largest>>;
  fns.reduce[reduce_index(graph::Op::ReduceMin)] = window_rows<T, InLanes<T, Least>>;
}

template <class T>
void add_extremes(Table& t, int dtype) {
  WindowFns& fns = t.window[dtype];
  fns.packet = kSize<T>;
  fns.reduce[reduce_index(graph::Op::ReduceMax)] = window_rows<T, InTurn<T, Largest>>;
  fns.reduce[reduce_index(graph::Op::ReduceMin)] = window_rows<T, InTurn<T, Least>>;
}

/// Sums wrap, so unsigned arithmetic serves both signs.
template <class T, class Signed>
void add_window_integers(Table& t) {
  add_extremes<T>(t, kDTypeIndex<T>);
  add_extremes<Signed>(t, kDTypeIndex<Signed>);
  for (const int dtype : {kDTypeIndex<T>, kDTypeIndex<Signed>}) {
    WindowFns& fns = t.window[dtype];
    fns.weighed = window_rows<T, Weighed<T>>;
    fns.reduce[reduce_index(graph::Op::Sum)] = window_rows<T, InTurn<T, Sum>>;
  }
}

}  // namespace

void add_window_ops(Table& table) {
  add_window_floats<float>(table);
  add_window_floats<double>(table);
  add_window_integers<std::uint8_t, std::int8_t>(table);
  add_window_integers<std::uint16_t, std::int16_t>(table);
  add_window_integers<std::uint32_t, std::int32_t>(table);
  add_window_integers<std::uint64_t, std::int64_t>(table);
}

}  // namespace oriel::backend::isa::ORIEL_ISA_LEVEL
