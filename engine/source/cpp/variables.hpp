// The variables of a kernel: declared where they are set, or members of a frame.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "codegen/loop_program.hpp"
#include "source/cpp/frame.hpp"
#include "source/writer.hpp"

namespace oriel::source::cpp {

/// In a large kernel variables are members of a frame that its functions share. Tiles in the frame are used again.
class Variables {
 public:
  /// `out` must outlive the object.
  explicit Variables(Writer& out) : out_(out) {}

  void set_framed(bool framed) { framed_ = framed; }
  bool framed() const { return framed_; }
  /// The text of a variable of the kernel.
  std::string var(const std::string& name) const { return framed_ ? "f." + name : name; }
  /// Declares a constant variable with this value, or sets the frame's member.
  void set(const Type& type, const std::string& name, const std::string& value);
  /// The same for a variable that changes.
  void declare(const Type& type, const std::string& name, const std::string& value);
  void member(const Type& type, const std::string& name) { members_.add(type, name); }
  const FrameMembers& members() const { return members_; }

  /// Sets the number of elements of a Tile and of Rows. Called before anything is written.
  void set_tiles(std::int64_t tile, std::int64_t rows) {
    tile_elements_ = tile;
    rows_elements_ = rows;
  }
  /// Declares a tile ("Tile" or "Rows") for value v, or takes a free one of the frame. Returns its text.
  std::string take_tile(codegen::ValueId v, const std::string& tile, DType dtype);
  /// Frees v's tile, if v has one in the frame.
  void give_back(codegen::ValueId v, const std::string& text);

 private:
  Writer& out_;
  bool framed_ = false;
  FrameMembers members_;
  std::int64_t tile_elements_ = 0;
  std::int64_t rows_elements_ = 0;
  std::map<std::string, std::vector<std::string>> free_;  // names of free tiles, by type
  std::map<codegen::ValueId, std::string> holder_;        // the types of tiles that values hold
  int tiles_ = 0;
};

}  // namespace oriel::source::cpp
