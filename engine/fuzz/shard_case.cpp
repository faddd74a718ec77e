#include "fuzz/shard_case.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

namespace oriel::fuzz {
namespace {

using Lengths = std::vector<std::int64_t>;

constexpr std::int64_t kMostShardElements = 240;

std::int64_t elements(const Lengths& shape) {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

Lengths unravelled(std::int64_t position, const Lengths& shape) {
  Lengths index(shape.size());
  for (std::size_t d = shape.size(); d-- > 0; position /= shape[d]) index[d] = position % shape[d];
  return index;
}

/// The row-major position, or -1 outside of the shape.
std::int64_t ravelled(const Lengths& index, const Lengths& shape) {
  std::int64_t position = 0;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (index[d] < 0 || index[d] >= shape[d]) return -1;
    position = position * shape[d] + index[d];
  }
  return position;
}

/// What ranks hold after a movement, by its definition: new index i is old index `source(i)`.
template <class Source>
HeldModel moved_model(const HeldModel& held, const Lengths& from, const Lengths& to, const Source& source) {
  HeldModel result(held.size());
  for (std::int64_t position = 0; position < elements(to); ++position) {
    const std::int64_t old = ravelled(source(unravelled(position, to)), from);
    if (old < 0) continue;
    for (std::size_t rank = 0; rank < held.size(); ++rank) {
      if (const auto found = held[rank].find(old); found != held[rank].end()) result[rank][position] = found->second;
    }
  }
  return result;
}

struct Placement {
  std::vector<shards::AxisShards> axes;
  std::vector<std::string> root;
  std::string text;
};

Placement draw_placement(Choices& choices, const shards::Mesh& mesh, const Lengths& shape) {
  Placement placement;
  placement.axes.resize(shape.size());
  for (const shards::MeshAxis& axis : mesh.axes()) {
    placement.text += fmt::format("{}{}={}", placement.text.empty() ? "" : ",", axis.name, axis.size);
    if (!shape.empty() && choices.chance(.75)) {
      const std::size_t d = choices.below(shape.size());
      placement.axes[d].mesh_axes.push_back(axis.name);
      placement.text += fmt::format("@{}", d);
    } else if (choices.chance(.2)) {
      placement.root.push_back(axis.name);
      placement.text += "@root";
    } else {
      placement.text += "@all";
    }
  }
  if (!shape.empty() && choices.chance(.25)) {
    placement.text += " halo";
    for (shards::AxisShards& axis : placement.axes) {
      axis.before = choices.chance(.5) ? choices.between(0, 2) : 0;
      axis.after = choices.chance(.5) ? choices.between(0, 2) : 0;
      placement.text += fmt::format(" {},{}", axis.before, axis.after);
    }
  }
  return placement;
}

ModelledSharding draw_leaf(Choices& choices, const shards::Mesh& mesh, const Lengths& shape) {
  const Placement placement = draw_placement(choices, mesh, shape);
  ModelledSharding result{shards::Sharding::make(mesh, Shape(shape), placement.axes, placement.root),
                          HeldModel(static_cast<std::size_t>(mesh.ranks())),
                          fmt::format("({}) {}", fmt::join(shape, ","), placement.text)};
  for (std::int64_t rank = 0; rank < mesh.ranks(); ++rank) {
    const auto at = mesh.coordinates(rank);
    bool holds = true;
    for (const std::string& name : placement.root) holds = holds && at[mesh.index(name)] == 0;
    if (!holds) continue;
    Lengths first;
    Lengths local;
    for (std::size_t d = 0; d < shape.size(); ++d) {
      std::int64_t part = 0;
      std::int64_t parts = 1;
      for (const std::string& name : placement.axes[d].mesh_axes) {
        const std::size_t k = mesh.index(name);
        part = part * mesh.axes()[k].size + at[k];
        parts *= mesh.axes()[k].size;
      }
      const std::int64_t block = (shape[d] + parts - 1) / parts;
      first.push_back(part * block - placement.axes[d].before);
      local.push_back(block + placement.axes[d].before + placement.axes[d].after);
    }
    for (std::int64_t slot = 0; slot < elements(local); ++slot) {
      Lengths index = unravelled(slot, local);
      for (std::size_t d = 0; d < shape.size(); ++d) index[d] += first[d];
      const std::int64_t position = ravelled(index, shape);
      if (position >= 0) result.held[static_cast<std::size_t>(rank)][position] = slot;
    }
  }
  return result;
}

/// A shape with as many elements.
Lengths draw_reshaped(Choices& choices, const Lengths& shape) {
  std::int64_t left = elements(shape);
  Lengths result;
  const std::int64_t axes = choices.between(left == 1 ? 0 : 1, 4);
  for (std::int64_t d = 1; d < axes; ++d) {
    if (left == 0) {
      result.push_back(choices.between(0, 3));
      continue;
    }
    Lengths divisors;
    for (std::int64_t n = 1; n <= left; ++n) {
      if (left % n == 0) divisors.push_back(n);
    }
    result.push_back(divisors[choices.below(divisors.size())]);
    left /= result.back();
  }
  if (axes > 0) result.push_back(left);
  return result;
}

/// Draws what a movement to `shape` starts from, and applies it.
ModelledSharding draw_moved(Choices& choices, const shards::Mesh& mesh, const Lengths& shape, int movements,
                            bool expands) {
  const auto before = [&](const Lengths& base) { return draw_sharding(choices, mesh, base, movements - 1, expands); };
  const std::size_t rank = shape.size();
  Lengths base = shape;
  switch (choices.between(0, expands ? 5 : 4)) {
    case 0: {
      Lengths order(rank);
      std::iota(order.begin(), order.end(), 0);
      choices.shuffle(order);
      for (std::size_t d = 0; d < rank; ++d) base[static_cast<std::size_t>(order[d])] = shape[d];
      const ModelledSharding old = before(base);
      const auto source = [&](const Lengths& i) {
        Lengths j(rank);
        for (std::size_t d = 0; d < rank; ++d) j[static_cast<std::size_t>(order[d])] = i[d];
        return j;
      };
      return {old.sharding.permute(Ints(order)), moved_model(old.held, base, shape, source),
              fmt::format("{} | permute {}", old.program, fmt::join(order, ","))};
    }
    case 1: {
      base = draw_reshaped(choices, shape);
      const ModelledSharding old = before(base);
      const auto source = [&](const Lengths& i) { return unravelled(ravelled(i, shape), base); };
      return {old.sharding.reshape(Shape(shape)), moved_model(old.held, base, shape, source),
              fmt::format("{} | reshape {}", old.program, fmt::join(shape, ","))};
    }
    case 2: {
      Lengths axes;
      for (std::size_t d = 0; d < rank; ++d) {
        if (choices.chance(.5)) axes.push_back(static_cast<std::int64_t>(d));
      }
      const ModelledSharding old = before(base);
      const auto source = [&](Lengths i) {
        for (const std::int64_t d : axes)
          i[static_cast<std::size_t>(d)] = shape[static_cast<std::size_t>(d)] - 1 - i[static_cast<std::size_t>(d)];
        return i;
      };
      return {old.sharding.flip(Ints(axes)), moved_model(old.held, base, shape, source),
              fmt::format("{} | flip {}", old.program, fmt::join(axes, ","))};
    }
    case 3:
    case 4: {
      // Slices and pads: `first` elements more, or fewer, in front.
      const bool slice = choices.chance(.5);
      Lengths first(rank);
      Ranges ranges;
      std::string text;
      for (std::size_t d = 0; d < rank; ++d) {
        first[d] = choices.between(0, slice ? 2 : std::min<std::int64_t>(2, shape[d]));
        const std::int64_t last = choices.between(0, slice ? 2 : std::min<std::int64_t>(2, shape[d] - first[d]));
        if (slice) {
          base[d] = shape[d] + first[d] + last;
          ranges.push_back({first[d], first[d] + shape[d]});
          text += fmt::format("{}{}:{}", d == 0 ? " " : ",", first[d], first[d] + shape[d]);
        } else {
          base[d] = shape[d] - first[d] - last;
          ranges.push_back({first[d], last});
          text += fmt::format(" {},{}", first[d], last);
        }
      }
      const ModelledSharding old = before(base);
      const auto source = [&](Lengths i) {
        for (std::size_t d = 0; d < rank; ++d) i[d] += slice ? first[d] : -first[d];
        return i;
      };
      return {slice ? old.sharding.shrink(ranges) : old.sharding.pad(ranges),
              moved_model(old.held, base, shape, source),
              fmt::format("{} | {}{}", old.program, slice ? "shrink" : "pad", text)};
    }
    default: {
      for (std::int64_t& extent : base) {
        if (extent > 1 && choices.chance(.4)) extent = 1;
      }
      const ModelledSharding old = before(base);
      const auto source = [&](Lengths i) {
        for (std::size_t d = 0; d < rank; ++d) i[d] = base[d] == 1 ? 0 : i[d];
        return i;
      };
      return {old.sharding.expand(Shape(shape)), moved_model(old.held, base, shape, source),
              fmt::format("{} | expand {}", old.program, fmt::join(shape, ","))};
    }
  }
}

}  // namespace

shards::Mesh draw_mesh(Choices& choices, std::int64_t ranks) {
  static const char* const names[] = {"a", "b", "c"};
  std::vector<shards::MeshAxis> axes;
  while (axes.size() < 2 && choices.chance(.6)) {
    Lengths divisors;
    for (std::int64_t n = 1; n <= ranks; ++n) {
      if (ranks % n == 0) divisors.push_back(n);
    }
    axes.push_back({names[axes.size()], divisors[choices.below(divisors.size())]});
    ranks /= axes.back().size;
  }
  axes.push_back({names[axes.size()], ranks});
  return shards::Mesh(axes);
}

std::vector<std::int64_t> draw_sharded_shape(Choices& choices) {
  while (true) {
    Lengths shape(choices.below(5));
    for (std::int64_t& extent : shape) extent = choices.chance(.05) ? 0 : choices.between(1, 9);
    if (elements(shape) <= kMostShardElements) return shape;
    if (choices.chance(.1)) return {};  // bytes that have ended draw the same again
  }
}

ModelledSharding draw_sharding(Choices& choices, const shards::Mesh& mesh, const Lengths& shape, int movements,
                               bool expands) {
  if (movements == 0 || choices.chance(.25) || elements(shape) > 2 * kMostShardElements) {
    return draw_leaf(choices, mesh, shape);
  }
  return draw_moved(choices, mesh, shape, movements, expands);
}

ShardCase draw_shard_case(Choices& choices) {
  const std::int64_t ranks = choices.between(2, 6);
  const Lengths shape = draw_sharded_shape(choices);
  const shards::Mesh from = draw_mesh(choices, ranks);
  const shards::Mesh to = draw_mesh(choices, ranks);
  ModelledSharding source = draw_sharding(choices, from, shape, 3, true);
  return {std::move(source), draw_sharding(choices, to, shape, 3, false)};
}

}  // namespace oriel::fuzz
