// The loops that touch elements, as one table of function pointers for each instruction-set level.
//
// The sources in this folder are compiled once per level (baseline, avx2 and avx512; on aarch64 only neon). Everything,
// Eigen included, is compiled into a namespace of that level, so the linker cannot mix inline functions of two levels.
#pragma once

#include <cstdint>
#include <limits>

#include "graph/op.hpp"
#include "ops/functions/reduction_order.hpp"
#include "oriel/dtype.hpp"

namespace oriel::backend::isa {

/// Element loops run over whole packets: their lengths are rounded up to a multiple of this many elements, at every
/// level.
inline constexpr std::int64_t kPacket = 16;
/// Block length and number of lanes that fix the order of reductions (../tile/README.md).
inline constexpr std::int64_t kBlock = ops::reduction::kBlock;
inline constexpr std::int64_t kLanes = ops::reduction::kOrder;
/// The number of lines in a tile that is sorted by columns is a multiple of this.
inline constexpr std::int64_t kSortLines = 16;
/// The columns that a scan takes side by side, so that their state stays in the first-level cache.
inline constexpr std::int64_t kScanStrip = 512;

/// dst[i] = f(a[i], b[i], c[i]) for i < n. n is a multiple of kPacket, dst is aligned to 64 bytes; dst may be one of
/// the operands.
using ElementFn = void (*)(void* dst, const void* a, const void* b, const void* c, std::int64_t n);

/// dst[i * dst_row + j * dst_col] = src[i * src_row + j * src_col] for i < rows, j < cols; strides in elements.
using CopyFn = void (*)(void* dst, std::int64_t dst_row, std::int64_t dst_col, const void* src, std::int64_t src_row,
                        std::int64_t src_col, std::int64_t rows, std::int64_t cols);

/// The distance of a point without an element.
inline constexpr std::int32_t kNoElement = std::numeric_limits<std::int32_t>::min();
/// So many successive distances are looked up together, if they span less than twice as many elements.
inline constexpr int kPickedTogether = 8;
/// dst[i] = src[distances[i]] for i < n; zero where a point has no element, if there are such points. Elements of src
/// from 0 to `readable` may be read. least[i] is the least of kPickedTogether distances from i on, kNoElement if these
/// are not looked up together.
using PickFn = void (*)(void* dst, const void* src, const std::int32_t* distances, const std::int32_t* least,
                        std::int64_t n, std::int64_t readable);

/// dst[distances[i]] = src[i] for i < n.
using PutFn = void (*)(void* dst, const void* src, const std::int32_t* distances, std::int64_t n);

/// Rows of memory at keys. Row i begins at element factor * keys[i * step] + offset of src, plus rest[i * rest_step] if
/// there is a rest, and goes to dst, where the rows lie one after the other. Sums wrap.
struct KeyedRows {
  void* dst = nullptr;
  const void* src = nullptr;
  const void* keys = nullptr;  // int32 or int64
  std::int64_t step = 1;
  std::int64_t factor = 1;
  std::int64_t offset = 0;
  const std::int64_t* rest = nullptr;
  std::int64_t rest_step = 1;
  std::int64_t first = 0;  // the keys that are read: [first, last]
  std::int64_t last = 0;
  std::int64_t limit = 0;  // with a rest: the last element where a row may begin
  std::int64_t element_bytes = 1;
  std::int64_t bytes = 1;  // of a row
  std::int64_t rows = 0;
};
/// Copies the rows that come before the first one whose key, or beginning, is out of range. Returns their number.
using KeyedRowsFn = std::int64_t (*)(const KeyedRows& rows);

/// dst[i * pitch + j] = base + i * row + j * col.
using IotaFn = void (*)(std::int64_t* dst, std::int64_t pitch, std::int64_t base, std::int64_t row, std::int64_t col,
                        std::int64_t rows, std::int64_t cols);

/// What a sum in float32 or float64 adds, computed from float32 elements x of `a` and from `b` in the dtype of the sum.
enum class Summand : std::uint8_t {
  Element,    // x
  Product,    // x * y, with the float32 element y of `b`; `b` may be `a`
  Deviation,  // (x - m)^2, with one number m of `b` for each row or column
};
inline constexpr int kSummands = static_cast<int>(Summand::Deviation) + 1;
/// Sums that compute what they add, in the fixed order. Null functions are not there.
struct SumFns {
  /// out[i] = the sum of the `cols` summands from a[i * cols] on, for i < rows.
  void (*rows)(const void* a, const void* b, std::int64_t rows, std::int64_t cols, void* out) = nullptr;
  /// acc[(position + r) % kLanes * width + j] += the summand at r * width + j, for r < rows, j < width.
  void (*columns)(void* acc, std::int64_t width, std::int64_t position, const void* a, const void* b,
                  std::int64_t rows) = nullptr;
};

/// acc[r % kLanes * width + j] op= x[r * pitch + j] for r < rows, j < width, in the order of r.
using AccumulateRowsFn = void (*)(void* acc, std::int64_t width, const void* x, std::int64_t pitch, std::int64_t rows);

/// Sums in float64 of float32 elements and of their squares, which share a loop. As SumFns.
struct MomentFns {
  void (*rows)(const void* x, std::int64_t rows, std::int64_t cols, void* sums, void* squares) = nullptr;
  void (*columns)(void* sums, void* squares, std::int64_t width, std::int64_t position, const void* x,
                  std::int64_t rows) = nullptr;
};

/// One reduction over one dtype, in the fixed order. An accumulator holds kLanes rows of `width` values.
struct ReduceFns {
  /// acc[(position + i) % period] op= x[i] for i < n, where period is kLanes * width.
  void (*accumulate)(void* acc, std::int64_t period, std::int64_t position, const void* x, std::int64_t n) = nullptr;
  /// Combines the lanes by halves down to acc[0 .. width). Only the first `lanes` rows hold accumulated values. The
  /// other rows count as the identity and are never read.
  void (*combine)(void* acc, std::int64_t width, std::int64_t lanes) = nullptr;
  /// dst[i] = a[i] op b[i] for i < n.
  void (*merge)(void* dst, const void* a, const void* b, std::int64_t n) = nullptr;
  /// out[i] = the whole reduction of the `cols` elements from x[i * pitch] on, for i < rows.
  void (*rows)(const void* x, std::int64_t pitch, std::int64_t rows, std::int64_t cols, void* out) = nullptr;
  /// The bytes of the identity.
  std::uint64_t identity = 0;
};

/// A block of a matrix product. For i < rows and j < cols, c[i * c_row + j] = the sum over p < depth, in that order, of
/// a[i * a_row + p * a_step] * b[p * b_row + j]. If `from` is not null, from[i * from_row + j] is added; `from` may be
/// c. Either a_row or a_step is 1. Rows of b must be readable up to the end of their last packet.
struct ProductBlock {
  const void* a = nullptr;
  std::int64_t a_row = 1;
  std::int64_t a_step = 0;
  const void* b = nullptr;
  std::int64_t b_row = 0;
  void* c = nullptr;
  std::int64_t c_row = 0;
  std::int64_t depth = 0;
  int rows = 0;
  int cols = 0;
  const void* from = nullptr;
  std::int64_t from_row = 0;
  const void* next =
      nullptr;  // prefetched into the second-level cache for what follows this block; at most depth * 16 bytes
  bool follows_streams = false;  // the processor fetches rows of b ahead by itself (`stream` only)
};

/// Products over one dtype.
struct ProductFns {
  int rows = 0;    // rows of the largest block
  int packet = 0;  // elements; a block has up to packet * packets columns
  int packets = 0;
  bool loose = false;  // true: a block may have fewer rows and a_step 1; false: a is read as `rows` rows side by side
  void (*block)(const ProductBlock&) = nullptr;
  /// The same for up to `rows` rows and any number of columns. b is read in place, row by row. Floats only.
  void (*stream)(const ProductBlock&) = nullptr;
  /// out[i] = the sum over r < n of x[r] * y[i * y_row + r] for i < rows. Products are rounded, then added in the order
  /// of a reduction. Floats only.
  void (*dots)(void* out, const void* x, const void* y, std::int64_t y_row, std::int64_t rows,
               std::int64_t n) = nullptr;
};

/// Reductions over windows. For i < rows and j < columns, out[i * out_row + j] = the reduction over r < count of x[i *
/// x_row + taps[r] + j], or of x[...] * weights[r]. If there are fewer columns than a packet has elements, whole
/// packets are read and written, row after row. Otherwise nothing beyond the last column is touched. `out` overlaps no
/// operand.
struct WindowRows {
  const void* x = nullptr;
  const std::int64_t* taps = nullptr;
  const void* weights = nullptr;
  std::int64_t count = 0;
  std::int64_t x_row = 0;
  void* out = nullptr;
  std::int64_t out_row = 0;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
};

using ops::kReduceCount;
using ops::reduce_index;

/// Reductions over windows for one dtype.
struct WindowFns {
  int packet = 0;
  /// The sum of products, added in the same order as in a block of a matrix product.
  void (*weighed)(const WindowRows&) = nullptr;
  /// Indexed by reduce_index; adds in the order of all reductions; takes at most kBlock taps. Null if the generic loops
  /// are used instead.
  void (*reduce[kReduceCount])(const WindowRows&) = {};
};

/// Sorts columns side by side. Keys are signed integers whose order is the order of the elements.
struct SortFns {
  /// Computes keys as wide as the elements, indexed by the elements' dtype. May work in place. NaN has the largest key.
  /// The key of -0 is one less than the key of 0.
  void (*keys[kDTypeCount])(void* keys, const void* x, std::int64_t n) = {};
  /// Converts keys back to elements. Every NaN becomes the positive NaN whose other bits are all set.
  void (*elements[kDTypeCount])(void* x, const void* keys, std::int64_t n) = {};
  /// Computes 64-bit keys for sorting pairs of keys and positions. 0 and -0 have the same key; `descending` reverses
  /// the order. For a narrower dtype the lower half of the key is 0.
  void (*wide_keys[kDTypeCount])(void* keys, const void* x, std::int64_t n, bool descending) = {};
  /// Sorts the columns of `lines` lines of 64 bytes that are full of keys. Indexed by the logarithm of an element's
  /// bytes. `lines` is a multiple of kSortLines.
  void (*columns[4])(void* tile, std::int64_t lines) = {};
  /// The same for keys of 8 bytes. Their positions, in as many lines, move with them; equal keys are ordered by
  /// position.
  void (*pairs)(void* keys, void* positions, std::int64_t lines) = nullptr;
};

constexpr int scan_index(graph::Op op) noexcept { return static_cast<int>(op) - static_cast<int>(graph::Op::CumSum); }
inline constexpr int kScans = scan_index(graph::Op::CumMin) + 1;

/// The elements along an axis that a scan works on: `lines` lines of `width` elements, `pitch` elements apart.
struct ScanLines {
  const void* x = nullptr;
  void* out = nullptr;  // at the same places as x
  std::int64_t pitch = 1;
  std::int64_t width = 1;
  std::int64_t lines = 0;
  bool from_start = false;  // nothing comes before these lines
};

/// Scans over one dtype, in the fixed order (../tile/README.md). A state holds what each of `width` columns has
/// combined so far: 3 * width elements.
struct ScanFns {
  void (*start)(void* state, std::int64_t width) = nullptr;
  /// Scans lines that begin with a run, and leaves the state behind them.
  void (*scan)(const ScanLines& lines, void* state) = nullptr;
  /// Combines each run of the lines by itself, into a line of `width` elements of `out` for each run.
  void (*totals)(const ScanLines& lines) = nullptr;
  /// Takes a state over runs with these totals.
  void (*advance)(void* state, const void* totals, std::int64_t width, std::int64_t runs) = nullptr;
  /// Scans each of `rows` rows of `extent` elements by itself, several side by side.
  void (*rows)(void* out, const void* x, std::int64_t rows, std::int64_t extent) = nullptr;
};

/// What one link of a chain computes from the value s so far and its operand x, or its operands x and y.
enum class Link : std::uint8_t {
  Add,                  // s + x
  Subtract,             // s - x
  SubtractFrom,         // x - s
  Multiply,             // s * x
  Divide,               // s / x
  DivideInto,           // x / s
  Max,                  // max(s, x)
  MaxOf,                // max(x, s): differs from Max if either is NaN or both are zeros
  Min,                  // min(s, x)
  MinOf,                // min(x, s)
  AddProduct,           // s + x * y; the product is rounded before the addition
  SubtractProduct,      // s - x * y
  SubtractFromProduct,  // x * y - s
  End,                  // after the last link
  // In pairs alone:
  Negate,
  Magnitude,
  NegateMagnitude,  // -|s|
  Exponential,
};
inline constexpr int kLinks = static_cast<int>(Link::Exponential) + 1;
struct ChainLink {
  Link op;
  bool number;  // use the first element of the last operand for every i
  const void* x;
  const void* y;
};
/// Sets dst[i] to the result of applying the links, up to one that is End, to first[i] in turn, for i < n. dst may be
/// one of the operands and needs no alignment. Operands are read to the end of a whole packet.
using ChainFn = void (*)(void* dst, const void* first, const ChainLink* links, std::int64_t n);

struct Table {
  const char* name = nullptr;  // set with the rest
  /// Indexed by op and by the operands' dtype (Where: by the dtype of its branches). Null if the op does not take the
  /// dtype.
  ElementFn element[graph::kOpCount][kDTypeCount] = {};
  /// a / b where b is the same number for every element: the bits of a division in a fraction of its time. Null where a
  /// plain division is fastest.
  ElementFn divide_by_one = nullptr;
  /// second(first(a, b), c) on float32 in one pass, indexed by these links: in a third of the time of a chain. [1]: b
  /// and c are one number each. Null if the pair runs as a chain, or as two operations if one of them is of pairs
  /// alone.
  ElementFn pair[kLinks][kLinks][2] = {};
  ChainFn chain[kDTypeCount] = {};                // floats
  ElementFn cast[kDTypeCount][kDTypeCount] = {};  // register dtypes: no halves
  ElementFn round_float16 = nullptr;              // float32 -> nearest float16 -> float32
  ElementFn round_bfloat16 = nullptr;
  CopyFn copy[4] = {};             // elements of 1, 2, 4, 8 bytes
  CopyFn widen_float16 = nullptr;  // memory -> float32
  CopyFn widen_bfloat16 = nullptr;
  CopyFn narrow_float16 = nullptr;  // float32 -> memory
  CopyFn narrow_bfloat16 = nullptr;
  PickFn pick[4][2] = {};  // elements of 1, 2, 4, 8 bytes; are there points without an element?
  PutFn put[4] = {};
  KeyedRowsFn keyed_rows[2] = {};  // keys of 4 and 8 bytes
  IotaFn iota = nullptr;
  /// Cuts rows into panels of `width`: dst[p * panel + i * width + j] = src[i * src_row + p * width + j] for i < rows,
  /// p < panels, j < width. All in bytes.
  void (*spread)(void* dst, std::int64_t panel, std::int64_t width, const void* src, std::int64_t src_row,
                 std::int64_t rows, std::int64_t panels) = nullptr;
  /// Copies whole cache lines of 64 bytes without filling the caches. Both ends are aligned to a line. `fence` orders
  /// these copies before what follows.
  void (*stream)(void* dst, const void* src, std::int64_t bytes) = nullptr;
  void (*fence)() = nullptr;
  ReduceFns reduce[kReduceCount][kDTypeCount] = {};
  SortFns sort;
  ScanFns scan[kScans][kDTypeCount];     // by the dtype of the result; there is none for Recurrence
  ProductFns product[kDTypeCount] = {};  // register dtypes that multiply and add
  WindowFns window[kDTypeCount] = {};    // register dtypes that can be multiplied and added
  /// Of the reductions. Null for elements of less than 4 bytes, and in the profile small; others also reduce short
  /// rows side by side.
  AccumulateRowsFn accumulate_rows[kReduceCount][kDTypeCount] = {};
  SumFns sums[2][kSummands] = {};  // in float32, in float64
  MomentFns moments;
};

/// The table of the best level that this machine has, or of the one that ORIEL_ISA names. Throws ArgumentError for a
/// name that is not a level and DeviceError for a level that this build or machine lacks.
const Table& table();
/// The same for a level by name; an empty name means the best, "baseline" the lowest that the build has.
const Table& table(const char* level);

}  // namespace oriel::backend::isa
