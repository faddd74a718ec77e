#include "source/cpp/variables.hpp"

namespace oriel::source::cpp {

void Variables::set(const Type& type, const std::string& name, const std::string& value) {
  if (framed_) {
    member(type, name);
    out_.line("f.{} = {};", name, value);
  } else {
    out_.line("const {} {} = {};", type.text, name, value);
  }
}

void Variables::declare(const Type& type, const std::string& name, const std::string& value) {
  if (framed_) {
    set(type, name, value);
  } else {
    out_.line("{} {} = {};", type.text, name, value);
  }
}

std::string Variables::take_tile(codegen::ValueId v, const std::string& tile, DType dtype) {
  const Type type =
      values_type(tile + "<" + number_type(dtype).text + ">", dtype, tile == "Rows" ? rows_elements_ : tile_elements_);
  if (!framed_) {
    std::string name = "t" + std::to_string(v);
    out_.line("{} {};", type.text, name);
    return name;
  }
  std::vector<std::string>& free = free_[type.text];
  if (free.empty()) {
    free.push_back("t" + std::to_string(tiles_++));
    member(type, free.back());
  }
  std::string name = "f." + free.back();
  free.pop_back();
  holder_[v] = type.text;
  return name;
}

void Variables::give_back(codegen::ValueId v, const std::string& text) {
  const auto held = holder_.find(v);
  if (held == holder_.end()) return;
  free_[held->second].push_back(text.substr(2));
  holder_.erase(held);
}

}  // namespace oriel::source::cpp
