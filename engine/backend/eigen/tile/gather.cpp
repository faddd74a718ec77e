// Elements and rows at positions that are data.
#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "backend/eigen/tile/lookups.hpp"
#include "backend/eigen/tile/worker.hpp"
#include "oriel/error.hpp"

namespace oriel::backend::eigen {
namespace {

using graph::Op;
__extension__ using Wide = __int128;
constexpr Wide kFar = Wide(1) << 126;  // beyond all positions
// Lines that rise faster are points: their sums and products stay numbers of 128 bits.
constexpr Wide kSteepest = Wide(1) << 60;

/// A value as a function of the key.
struct Line {
  Wide factor = 0;
  Wide offset = 0;
};
bool is_flat(Wide factor) { return factor <= kSteepest && factor >= -kSteepest; }
Line operator-(const Line& a, const Line& b) { return {a.factor - b.factor, a.offset - b.offset}; }

/// Computes with lines. All comparisons that are made have the same answer for all keys from `first` to `last`.
class Tracer {
 public:
  Tracer(std::int64_t key, std::int64_t first, std::int64_t last) : key_(key), first_(first), last_(last) {}
  std::int64_t first() const { return first_; }
  std::int64_t last() const { return last_; }

  Wide at(const Line& l) const { return l.factor * key_ + l.offset; }
  /// Keeps the keys at which the line lies in [low, high], as it does at the key.
  void keep(const Line& l, Wide low, Wide high) {
    if (l.factor == 0) return;
    const auto floor = [&](Wide x) { return x / l.factor - (x % l.factor != 0 && (x < 0) != (l.factor < 0) ? 1 : 0); };
    const Wide under = floor((l.factor > 0 ? high : low) - l.offset);
    const Wide over = -floor(-((l.factor > 0 ? low : high) - l.offset));
    first_ = static_cast<std::int64_t>(std::max<Wide>(first_, over));
    last_ = static_cast<std::int64_t>(std::min<Wide>(last_, under));
  }
  /// As int64, which wraps.
  Line wrapped(Line l) {
    const Wide value = at(l);
    const auto narrow = static_cast<std::int64_t>(static_cast<std::uint64_t>(value));
    l.offset += narrow - value;
    keep(l, std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max());
    if (is_flat(l.factor)) return l;
    first_ = last_ = key_;
    return {0, narrow};
  }
  bool less(const Line& a, const Line& b) {
    const Line d = a - b;
    const bool is = at(d) < 0;
    keep(d, is ? -kFar : 0, is ? -1 : kFar);
    return is;
  }

  Line compute(Op op, const Line& a, const Line& b, const Line& c) {
    const auto truth = [](bool is) { return Line{0, is ? 1 : 0}; };
    switch (op) {
      case Op::Add:
        return wrapped({a.factor + b.factor, a.offset + b.offset});
      case Op::Sub:
        return wrapped(a - b);
      case Op::Mul: {
        const Line &line = b.factor == 0 ? a : b, &number = b.factor == 0 ? b : a;
        const Wide factor = line.factor * number.offset;
        if (number.factor == 0 && is_flat(factor) && is_flat(line.offset))
          return wrapped({factor, line.offset * number.offset});
        first_ = last_ = key_;
        return wrapped({0, at(a) * at(b)});
      }
      case Op::Lt:
        return truth(less(a, b));
      case Op::Le:
        return truth(!less(b, a));
      case Op::And:
        return truth(at(a) != 0 && at(b) != 0);
      case Op::Where:
        return at(a) != 0 ? b : c;
      case Op::Cast:
        return a;
      default:
        throw InternalError("launch", "a position is computed by " + std::string(graph::name(op)));
    }
  }

 private:
  std::int64_t key_;
  std::int64_t first_;
  std::int64_t last_;
};

}  // namespace

KeyRange Worker::trace(const TileStep& step, std::int64_t key) const {
  const Gather& g = plan_.gathers[static_cast<std::size_t>(step.chain)];
  constexpr std::numeric_limits<std::int32_t> narrow;
  constexpr std::numeric_limits<std::int64_t> wide;
  Tracer tracer(key, g.wide ? wide.min() : narrow.min(), g.wide ? wide.max() : narrow.max());
  Line lines[kMostKeySteps + 1];
  lines[0] = {1, 0};
  for (std::size_t i = 0; i < g.steps.size(); ++i) {
    const Gather::Step& s = g.steps[i];
    if (s.op == Op::Const) {
      lines[i + 1] = {0, static_cast<std::int64_t>(launch_.constants[static_cast<std::size_t>(s.a)])};
    } else if (s.op == Op::Buffer) {
      lines[i + 1] = {0, *static_cast<const std::uint8_t*>(slots_[step.c])};
    } else {
      lines[i + 1] = tracer.compute(s.op, lines[s.a], lines[s.b], lines[s.c]);
    }
  }
  Line position = lines[g.steps.size()];
  position.offset += g.column;
  bool inside = true;
  if (g.rest) {
    position = tracer.wrapped(position);
  } else {
    const Wide at = tracer.at(position), last = access(g).elements - g.width;
    inside = at >= 0 && at <= last;
    if (inside)
      tracer.keep(position, 0, last);
    else if (at <= -g.width || at >= access(g).elements)
      tracer.keep(position, at < 0 ? -kFar : access(g).elements, at < 0 ? -g.width : kFar);
    else  // a part of the row is in memory
      tracer = Tracer(key, key, key);
  }
  return {tracer.first(), tracer.last(), static_cast<std::int64_t>(position.factor),
          static_cast<std::int64_t>(position.offset), inside};
}

// A position outside of the buffer gives 0.
void Worker::look_up(const TileStep& step, const Tile& tile) {
  const Gather& g = plan_.gathers[static_cast<std::size_t>(step.chain)];
  const MemoryAccess& r = access(g);
  const std::int64_t width = g.rows ? tile.cols : 1, count = g.rows ? tile.rows : tile.size();
  const std::int64_t from = g.rows ? tile.fast : 0;  // of the row
  const std::int64_t key_step = g.rows && !g.key_starts ? width : 1, rest_step = g.rows && !g.rest_starts ? width : 1;
  auto& known = known_keys_[static_cast<std::size_t>(step.chain)];
  const auto key_at = [&](std::int64_t i) -> std::int64_t {
    const void* const keys = slots_[step.a];
    return g.wide ? static_cast<const std::int64_t*>(keys)[i * key_step]
                  : static_cast<const std::int32_t*>(keys)[i * key_step];
  };
  const std::int64_t* const rest = g.rest ? static_cast<const std::int64_t*>(slots_[step.b]) : nullptr;
  const auto range_of = [&](std::int64_t key) -> const KeyRange& {
    const auto has = [key](const KeyRange& range) { return key >= range.first && key <= range.last; };
    if (has(known[0])) return known[0];
    std::swap(known[0], known[1]);
    if (!has(known[0])) known[0] = trace(step, key);
    return known[0];
  };
  const auto place_of = [&](std::int64_t i) {
    const KeyRange& range = range_of(key_at(i));
    const auto sum = static_cast<std::uint64_t>(range.factor) * static_cast<std::uint64_t>(key_at(i)) +
                     static_cast<std::uint64_t>(range.offset) + static_cast<std::uint64_t>(from);
    return static_cast<std::int64_t>(rest == nullptr ? sum : sum + static_cast<std::uint64_t>(rest[i * rest_step]));
  };
  // A part of a row is read in place, if nothing writes to its memory.
  void* const stored =
      step.access >= 0 && r.same ? place(plan_.accesses[static_cast<std::size_t>(step.access)], tile) : nullptr;
  if (g.rows && count == 1 && stored == nullptr && r.slack) {
    const std::int64_t place = place_of(0);
    if (place >= 0 && place <= r.elements - width) {
      if (void* const memory = in_place(launch_, r, place, width)) {
        slots_[step.dst] = memory;
        return;
      }
    }
  }
  slots_[step.dst] = stored != nullptr ? stored : own_register(step.dst);
  // Halves come to the end of the register, from where they are widened.
  char* const to = static_cast<char*>(slots_[step.dst]) + (r.same ? 0 : tile.size() * r.bytes);
  const std::int64_t bytes = width * r.bytes;
  for (std::int64_t i = 0; i < count;) {
    const KeyRange& range = range_of(key_at(i));
    std::int64_t done = 0;
    if (range.inside && range.offset <= std::numeric_limits<std::int64_t>::max() - from) {
      const char* const keys = static_cast<const char*>(slots_[step.a]) + i * key_step * (g.wide ? 8 : 4);
      done = table_.keyed_rows[g.wide ? 1 : 0]({.dst = to + i * bytes,
                                                .src = address(launch_, r, 0),
                                                .keys = keys,
                                                .step = key_step,
                                                .factor = range.factor,
                                                .offset = range.offset + from,
                                                .rest = rest == nullptr ? nullptr : rest + i * rest_step,
                                                .rest_step = rest_step,
                                                .first = range.first,
                                                .last = range.last,
                                                .limit = r.elements - width,
                                                .element_bytes = r.bytes,
                                                .bytes = bytes,
                                                .rows = count - i});
    }
    i += done;
    if (done > 0) continue;
    const std::int64_t place = place_of(i);
    const bool none = place <= -width || place >= r.elements;
    const std::int64_t skip = none || place >= 0 ? 0 : -place, end = none ? 0 : std::min(r.elements - place, width);
    if (end - skip < width) std::memset(to + i * bytes, 0, static_cast<std::size_t>(bytes));
    if (skip < end)
      std::memcpy(to + i * bytes + skip * r.bytes, address(launch_, r, place + skip),
                  static_cast<std::size_t>((end - skip) * r.bytes));
    ++i;
  }
  if (!r.same) r.copy(slots_[step.dst], 0, 1, to, 0, 1, 1, tile.size());
}

}  // namespace oriel::backend::eigen
