// Boxes of elements between memory and registers: contiguous, strided, reversed, repeated, transposed.
#include "backend/eigen/isa/half.hpp"
#include "backend/eigen/isa/row_chunks.hpp"

namespace oriel::backend::isa::ORIEL_ISA_LEVEL {
namespace {

template <class T>
struct Same {
  using Source = T;
  using Result = T;
  static T of(T x) { return x; }
};
template <class S, class R, R (*kConvert)(S)>
struct Converted {
  using Source = S;
  using Result = R;
  static R of(S x) { return kConvert(x); }
};
using WidenFloat16 = Converted<std::uint16_t, float, widen_float16>;
using NarrowFloat16 = Converted<float, std::uint16_t, narrow_float16>;
using WidenBfloat16 = Converted<std::uint16_t, float, widen_bfloat16>;
using NarrowBfloat16 = Converted<float, std::uint16_t, narrow_bfloat16>;

template <class F>
void copy_unit(typename F::Result* dst, const typename F::Source* src, std::int64_t n) {
  std::int64_t i = 0;
  if constexpr (std::is_same_v<F, WidenFloat16>) {
    for (; i + 8 <= n; i += 8) widen8(dst + i, src + i);
  } else if constexpr (std::is_same_v<F, NarrowFloat16>) {
    for (; i + 8 <= n; i += 8) narrow8(dst + i, src + i);
  } else if constexpr (std::is_same_v<typename F::Source, typename F::Result>) {
    if (n >= 32) {
      std::memcpy(dst, src, static_cast<std::size_t>(n) * sizeof(*dst));
      return;
    }
  }
  ORIEL_VECTOR_LOOP
  for (; i < n; ++i) dst[i] = F::of(src[i]);
}

/// Elements so far apart. A known distance is read by vectors and shuffles.
template <class F, int kApart>
void copy_apart(typename F::Result* dst, const typename F::Source* src, std::int64_t n) {
  ORIEL_VECTOR_LOOP
  for (std::int64_t i = 0; i < n; ++i) dst[i] = F::of(src[kApart * i]);
}

template <class F>
void copy_row(typename F::Result* dst, std::int64_t dst_col, const typename F::Source* src, std::int64_t src_col,
              std::int64_t n) {
  if (dst_col == 1 && src_col == 1) {
    copy_unit<F>(dst, src, n);
  } else if (dst_col == 1 && src_col == 0) {
    const typename F::Result value = F::of(*src);
    for (std::int64_t i = 0; i < n; ++i) dst[i] = value;
  } else if (dst_col == 1 && src_col == -1) {
    ORIEL_VECTOR_LOOP
    for (std::int64_t i = 0; i < n; ++i) dst[i] = F::of(src[-i]);
  } else if (dst_col == 1 && src_col == 2) {
    copy_apart<F, 2>(dst, src, n);
  } else if (!kFew && dst_col == 1 && src_col == 3) {
    copy_apart<F, 3>(dst, src, n);
  } else if (!kFew && dst_col == 1 && src_col == 4) {
    copy_apart<F, 4>(dst, src, n);
  } else if (!kFew && dst_col == 1 && src_col == 8) {
    copy_apart<F, 8>(dst, src, n);
  } else {
    ORIEL_VECTOR_LOOP
    for (std::int64_t i = 0; i < n; ++i) dst[i * dst_col] = F::of(src[i * src_col]);
  }
}

// Squares of 4-byte and 8-byte elements are transposed in registers, so a transposing copy reads and writes whole
// vectors.
// How many bytes ahead of a square's rows to prefetch. Sixteen rows are more streams than hardware prefetchers follow.
constexpr int kTransposedAhead = 192;

template <int Side, class T>
void transpose_squares(T* dst, std::int64_t dst_row, const T* src, std::int64_t src_col, std::int64_t rows,
                       std::int64_t cols) {
  // Source rows whose distance is a power of two share few sets of the first-level cache. So a group of rows is read to
  // its end before the next group starts.
  for (std::int64_t j = 0; j < cols; j += Side) {
    for (std::int64_t i = 0; i < rows; i += Side) {
      const T* square = src + j * src_col + i;
      if constexpr (Side == 16) {
        for (int k = 0; k < Side; ++k) __builtin_prefetch(square + k * src_col + kTransposedAhead / sizeof(T));
      }
      transpose_square<Side>(dst + i * dst_row + j, dst_row, square, src_col);
    }
  }
}

// dst[i * dst_row + j] = src[j * src_col + i].
template <class T>
void transpose_box(T* dst, std::int64_t dst_row, const T* src, std::int64_t src_col, std::int64_t rows,
                   std::int64_t cols) {
  const std::int64_t whole_rows = rows / kSide<T> * kSide<T>;
  const std::int64_t whole_cols = cols / kSide<T> * kSide<T>;
  std::int64_t big_rows = 0;
  std::int64_t big_cols = 0;
#if defined(__AVX512F__)
  // Squares whose rows are whole cache lines.
  constexpr int line = 64 / static_cast<int>(sizeof(T));
  if (rows >= line && cols >= line) {
    big_rows = rows / line * line;
    big_cols = cols / line * line;
    transpose_squares<line>(dst, dst_row, src, src_col, big_rows, big_cols);
  }
#endif
  transpose_squares<kSide<T>>(dst + big_cols, dst_row, src + big_cols * src_col, src_col, big_rows,
                              whole_cols - big_cols);
  transpose_squares<kSide<T>>(dst + big_rows * dst_row, dst_row, src + big_rows, src_col, whole_rows - big_rows,
                              whole_cols);
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = i < whole_rows ? whole_cols : 0; j < cols; ++j) dst[i * dst_row + j] = src[j * src_col + i];
  }
}

// The same for elements that are widened while they are copied, in squares of eight by eight.
template <class F>
void transpose_widened(float* dst, std::int64_t dst_row, const std::uint16_t* src, std::int64_t src_col,
                       std::int64_t rows, std::int64_t cols) {
  constexpr int side = 8;
  const std::int64_t whole_rows = rows / side * side;
  const std::int64_t whole_cols = cols / side * side;
  for (std::int64_t j = 0; j < whole_cols; j += side) {
    for (std::int64_t i = 0; i < whole_rows; i += side) {
      alignas(64) float square[side * side];
      for (int k = 0; k < side; ++k) {
        const std::uint16_t* from = src + (j + k) * src_col + i;
        if constexpr (std::is_same_v<F, WidenFloat16>) {
          widen8(square + static_cast<std::ptrdiff_t>(k * side), from);
        } else {
          for (int l = 0; l < side; ++l) square[k * side + l] = F::of(from[l]);
        }
      }
      constexpr int half = kSide<float>;
      for (int k = 0; k < side; k += half)
        for (int l = 0; l < side; l += half)
          transpose_square<half>(dst + (i + l) * dst_row + j + k, dst_row,
                                 square + static_cast<std::ptrdiff_t>(k * side + l), side);
    }
  }
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = i < whole_rows ? whole_cols : 0; j < cols; ++j)
      dst[i * dst_row + j] = F::of(src[j * src_col + i]);
  }
}

// Panels are pages apart, and there are more of them than the TLB has entries. So each panel is visited for several
// rows at a time.
constexpr std::int64_t kSpreadRows = 8;

template <int Bytes>
void spread_chunks(char* dst, std::int64_t panel, const char* src, std::int64_t src_row, std::int64_t rows,
                   std::int64_t panels) {
  for (; rows >= kSpreadRows; rows -= kSpreadRows, dst += kSpreadRows * Bytes, src += kSpreadRows * src_row) {
    for (std::int64_t p = 0; p < panels; ++p) {
      for (std::int64_t i = 0; i < kSpreadRows; ++i)
        std::memcpy(dst + p * panel + i * Bytes, src + i * src_row + p * Bytes, Bytes);
    }
  }
  for (std::int64_t i = 0; i < rows; ++i, dst += Bytes, src += src_row) {
    for (std::int64_t p = 0; p < panels; ++p) std::memcpy(dst + p * panel, src + p * Bytes, Bytes);
  }
}

void spread(void* dst, std::int64_t panel, std::int64_t width, const void* src, std::int64_t src_row, std::int64_t rows,
            std::int64_t panels) {
  char* d = static_cast<char*>(dst);
  const char* s = static_cast<const char*>(src);
  switch (width) {
    case 16:
      return spread_chunks<16>(d, panel, s, src_row, rows, panels);
    case 32:
      return spread_chunks<32>(d, panel, s, src_row, rows, panels);
    case 64:
      return spread_chunks<64>(d, panel, s, src_row, rows, panels);
    case 96:
      return spread_chunks<96>(d, panel, s, src_row, rows, panels);
    case 128:
      return spread_chunks<128>(d, panel, s, src_row, rows, panels);
    case 192:
      return spread_chunks<192>(d, panel, s, src_row, rows, panels);
    default:
      for (std::int64_t i = 0; i < rows; ++i) {
        for (std::int64_t p = 0; p < panels; ++p) {
          std::memcpy(d + p * panel + i * width, s + i * src_row + p * width, static_cast<std::size_t>(width));
        }
      }
  }
}

/// Fills rows of at least kChunk bytes, and at most twice as many, with an element each, as two chunks that may
/// overlap.
template <int kChunk, class T>
void fill_ends(T* dst, std::int64_t dst_row, const T* src, std::int64_t src_row, std::int64_t rows, std::int64_t cols) {
  typedef T Lanes __attribute__((vector_size(kChunk)));
  const std::int64_t last = cols - kChunk / static_cast<std::int64_t>(sizeof(T));
  for (std::int64_t i = 0; i < rows; ++i, dst += dst_row, src += src_row) {
    const Lanes lanes = *src - Lanes{};
    std::memcpy(dst, &lanes, kChunk);
    std::memcpy(dst + last, &lanes, kChunk);
  }
}

/// Fills rows of 8 to 128 bytes with an element each. Returns false for others.
template <class T>
bool fill_small_rows(T* dst, std::int64_t dst_row, const T* src, std::int64_t src_row, std::int64_t rows,
                     std::int64_t cols) {
  const std::int64_t bytes = cols * static_cast<std::int64_t>(sizeof(T));
  if (sizeof(T) == 8 ? bytes < 16 : bytes < 8) return false;
  if (bytes > 128) return false;
  if (bytes >= 64)
    fill_ends<64>(dst, dst_row, src, src_row, rows, cols);
  else if (bytes >= 32)
    fill_ends<32>(dst, dst_row, src, src_row, rows, cols);
  else if (bytes >= 16)
    fill_ends<16>(dst, dst_row, src, src_row, rows, cols);
  else if constexpr (sizeof(T) < 8)
    fill_ends<8>(dst, dst_row, src, src_row, rows, cols);
  return true;
}

template <class F>
void copy_box(void* dst, std::int64_t dst_row, std::int64_t dst_col, const void* src, std::int64_t src_row,
              std::int64_t src_col, std::int64_t rows, std::int64_t cols) {
  typename F::Result* d = static_cast<typename F::Result*>(dst);
  const typename F::Source* s = static_cast<const typename F::Source*>(src);
  if constexpr (std::is_same_v<F, Same<std::uint32_t>> || std::is_same_v<F, Same<std::uint64_t>>) {
    constexpr int side = kSide<typename F::Result>;
    if (rows >= side && cols >= side) {
      if (src_row == 1 && dst_col == 1 && src_col != 1) return transpose_box(d, dst_row, s, src_col, rows, cols);
      if (src_col == 1 && dst_row == 1 && dst_col != 1) return transpose_box(d, dst_col, s, src_row, cols, rows);
    }
  }
  if constexpr (std::is_same_v<F, WidenFloat16> || std::is_same_v<F, WidenBfloat16>) {
    if (rows >= 8 && cols >= 8) {
      if (src_row == 1 && dst_col == 1 && src_col != 1) return transpose_widened<F>(d, dst_row, s, src_col, rows, cols);
      if (src_col == 1 && dst_row == 1 && dst_col != 1) return transpose_widened<F>(d, dst_col, s, src_row, cols, rows);
    }
  }
  if constexpr (std::is_same_v<typename F::Source, typename F::Result>) {
    constexpr std::int64_t size = sizeof *s;
    if (src_col == 1 && dst_col == 1 && rows > 1 && cols > 1 && cols * size <= kLongestRow)
      return copy_rows(reinterpret_cast<char*>(d), dst_row * size, cols * size, rows,
                       [=](std::int64_t i) { return reinterpret_cast<const char*>(s + i * src_row); });
    if (src_col == 0 && dst_col == 1 && rows > 1 && fill_small_rows(d, dst_row, s, src_row, rows, cols)) return;
  }
  // The outer loop takes the shorter of two strided axes, or the axis along which elements are far apart. So a
  // transposing copy reads or writes whole cache lines.
  const bool swap = cols < rows && rows > 1 && ((src_row == 1 && src_col != 1 && dst_col != 1) || cols <= 4);
  if (swap) {
    for (std::int64_t j = 0; j < cols; ++j) copy_row<F>(d + j * dst_col, dst_row, s + j * src_col, src_row, rows);
  } else {
    for (std::int64_t i = 0; i < rows; ++i) copy_row<F>(d + i * dst_row, dst_col, s + i * src_row, src_col, cols);
  }
}

#if defined(__AVX2__)
/// Two vectors hold all elements that distances from `least` on name.
inline __m256i pick_together(const std::uint32_t* src, const std::int32_t* distances, std::int32_t least) {
  const auto load = [](const void* from) { return _mm256_loadu_si256(static_cast<const __m256i*>(from)); };
  const __m256i low = load(src + least), high = load(src + least + kPickedTogether);
  const __m256i at = _mm256_sub_epi32(load(distances), _mm256_set1_epi32(least));
#if defined(__AVX512VL__)
  return _mm256_permutex2var_epi32(low, at, high);
#else
  const __m256i above = _mm256_cmpgt_epi32(at, _mm256_set1_epi32(kPickedTogether - 1));
  return _mm256_blendv_epi8(_mm256_permutevar8x32_epi32(low, at), _mm256_permutevar8x32_epi32(high, at), above);
#endif
}
#endif

template <class T, bool kHoles>
void pick(void* dst, const void* src, const std::int32_t* distances, [[maybe_unused]] const std::int32_t* least,
          std::int64_t n, [[maybe_unused]] std::int64_t readable) {
  T* const to = static_cast<T*>(dst);
  const T* const from = static_cast<const T*>(src);
  const auto one = [&](std::int64_t i) { return kHoles && distances[i] == kNoElement ? T{} : from[distances[i]]; };
  std::int64_t i = 0;
#if defined(__AVX2__)
  if constexpr (sizeof(T) == 4 && !kHoles) {
    for (; i + kPickedTogether <= n; i += kPickedTogether) {
      if (least[i] != kNoElement && least[i] + 2 * kPickedTogether <= readable)
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + i), pick_together(from, distances + i, least[i]));
      else
        for (int k = 0; k < kPickedTogether; ++k) to[i + k] = one(i + k);
    }
  }
#endif
  for (; i < n; ++i) to[i] = one(i);
}

template <class T>
void put(void* dst, const void* src, const std::int32_t* distances, std::int64_t n) {
  T* const to = static_cast<T*>(dst);
  const T* const from = static_cast<const T*>(src);
  for (std::int64_t i = 0; i < n; ++i) to[distances[i]] = from[i];
}

void iota(std::int64_t* dst, std::int64_t pitch, std::int64_t base, std::int64_t row, std::int64_t col,
          std::int64_t rows, std::int64_t cols) {
  if (row == 0 && pitch == cols && rows > 1) {  // a row again and again
    iota(dst, pitch, base, row, col, 1, cols);
    for (std::int64_t done = cols, all = rows * cols; done < all; done *= 2)
      std::memcpy(dst + done, dst, static_cast<std::size_t>(std::min(done, all - done)) * sizeof *dst);
    return;
  }
  for (std::int64_t i = 0; i < rows; ++i) {
    std::int64_t* d = dst + i * pitch;
    const std::int64_t start = base + i * row;
    for (std::int64_t j = 0; j < cols; ++j) d[j] = start + j * col;
  }
}

void stream(void* dst, const void* src, std::int64_t bytes) {
#if defined(__AVX512F__)
  for (std::int64_t i = 0; i < bytes; i += 64) {
    _mm512_stream_si512(reinterpret_cast<__m512i*>(static_cast<char*>(dst) + i),
                        _mm512_load_si512(static_cast<const char*>(src) + i));
  }
#elif defined(__AVX2__)
  for (std::int64_t i = 0; i < bytes; i += 32) {
    _mm256_stream_si256(reinterpret_cast<__m256i*>(static_cast<char*>(dst) + i),
                        _mm256_load_si256(reinterpret_cast<const __m256i*>(static_cast<const char*>(src) + i)));
  }
#elif defined(__SSE2__)
  for (std::int64_t i = 0; i < bytes; i += 16) {
    _mm_stream_si128(reinterpret_cast<__m128i*>(static_cast<char*>(dst) + i),
                     _mm_load_si128(reinterpret_cast<const __m128i*>(static_cast<const char*>(src) + i)));
  }
#else
  std::memcpy(dst, src, static_cast<std::size_t>(bytes));
#endif
}

void fence() {
#if defined(__SSE2__)
  _mm_sfence();
#endif
}

template <class T>
void add_copies(Table& t, int log_bytes) {
  t.copy[log_bytes] = copy_box<Same<T>>;
  t.pick[log_bytes][0] = pick<T, false>;
  t.pick[log_bytes][1] = pick<T, true>;
  t.put[log_bytes] = put<T>;
}

}  // namespace

void add_copy_ops(Table& table) {
  add_copies<std::uint8_t>(table, 0);
  add_copies<std::uint16_t>(table, 1);
  add_copies<std::uint32_t>(table, 2);
  add_copies<std::uint64_t>(table, 3);
  table.widen_float16 = copy_box<WidenFloat16>;
  table.widen_bfloat16 = copy_box<WidenBfloat16>;
  table.narrow_float16 = copy_box<NarrowFloat16>;
  table.narrow_bfloat16 = copy_box<NarrowBfloat16>;
  table.iota = iota;
  table.spread = spread;
  table.stream = stream;
  table.fence = fence;
}

}  // namespace oriel::backend::isa::ORIEL_ISA_LEVEL
