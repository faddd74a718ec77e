// The header beside the sources of several kernels, which holds each of their helper functions once.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace oriel::source {

/// Helpers stand in sections. The helpers of a section share definitions, such as the type of packets, that differ
/// between sections.
class SharedHelpers {
 public:
  /// `file`: the header's name without its folder; `prefix`: a C identifier with which its names begin.
  SharedHelpers(std::string file, std::string prefix) : file_(std::move(file)), prefix_(std::move(prefix)) {}

  const std::string& file() const { return file_; }
  const std::string& prefix() const { return prefix_; }
  /// Lines at the beginning, each text once.
  void add_lines(const std::string& text) { lines_.insert(text); }
  /// The texts at the beginning and end of a section.
  void open(const std::string& section, const std::string& begin, const std::string& end) {
    sections_.try_emplace(section, Section{begin, end, {}, {}});
  }
  /// Adds a helper to an open section unless it is there. It stands before the helpers of higher `rank` and after the
  /// present helpers of the same rank.
  void add(const std::string& section, std::size_t rank, std::string_view name, std::string_view text) {
    Section& s = sections_.at(section);
    if (s.names.emplace(name).second) s.helpers[rank] += text;
  }
  bool empty() const { return sections_.empty(); }
  /// The header.
  std::string text() const {
    std::string text = "// What the kernels beside this file call.\n#pragma once\n\n";
    for (const std::string& line : lines_) text += line;
    for (const auto& [name, section] : sections_) {
      text += "\n" + section.begin;
      for (const auto& [rank, helper] : section.helpers) text += helper;
      text += section.end;
    }
    return text;
  }

 private:
  struct Section {
    std::string begin;
    std::string end;
    std::set<std::string, std::less<>> names;
    std::map<std::size_t, std::string> helpers;  // by rank
  };
  std::string file_;
  std::string prefix_;
  std::set<std::string> lines_;
  std::map<std::string, Section> sections_;
};

}  // namespace oriel::source
