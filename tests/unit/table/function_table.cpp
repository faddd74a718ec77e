// Writes the table of the page FUNCTIONS.md: what each function can do beside being called. Every cell is tried.
//
//     function_table            prints the page
//     function_table PAGE       fails unless the page is what it prints
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "function_rows.hpp"
#include "oriel/oriel.hpp"

namespace oriel::testing {

namespace {

namespace fs = std::filesystem;

/// What a captured callable calls: it has no state of its own.
TableFunction current = nullptr;
struct Current {
  Tensor operator()(Tensor x) const { return current(x); }
};

/// Rows of numbers in (0.1, 0.9), of which no two are equal.
Tensor rows(std::int64_t n) { return ((iota({n, 4}) * 37 + 5) % 97).to(DType::float32) / 121.25F + 0.1F; }

/// The error that f throws, or nothing.
std::string refused(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& error) {
    return std::string(error.message());
  }
  return "";
}

/// Reasons, each under a number.
class Reasons {
 public:
  std::string mark(const std::string& error) {
    if (error.empty()) return "yes";
    const auto at = numbers_.find(error);
    if (at != numbers_.end()) return "no (" + std::to_string(at->second) + ")";
    texts_.push_back(error);
    numbers_[error] = texts_.size();
    return mark(error);
  }
  const std::vector<std::string>& texts() const { return texts_; }

 private:
  std::map<std::string, std::size_t> numbers_;
  std::vector<std::string> texts_;
};

/// The reason without what depends on the call: the operation, sizes and numbers.
std::string general(const std::string& message) {
  static const std::pair<std::string_view, std::string_view> kReasons[] = {
      {"has no derivative", "No derivative is defined."},
      {"not differentiable", "No derivative is defined."},
      {"integers", "The result is of integers or bools, which have no derivative."},
      {"several stacked views",
       "An operand is read through stacked views, and how their loops split depends on the sizes."},
      {"finds sizes in its data", "Its sizes are found in its data, which needs the engine between two kernels."},
      {"choose one by its number", "Each extent has an entry of its own."},
      {"being traced", "It reads elements while it is traced; with a range, or where the count is given, it does not."},
      {"no entry", "It cannot be captured."},
      {"host", "It calls a function of the host (Eigen, Fourier transforms), of which exports have no text."},
  };
  for (const auto& [part, reason] : kReasons)
    if (message.find(part) != std::string::npos) return std::string(reason);
  return message;
}

void write_row(std::ostream& out, const TableRow& row, Reasons& reasons, const fs::path& folder) {
  current = row.call;
  const Function<Current> f({}, {.dynamic = Dynamic::yes}, Site::unknown());
  const std::string plans = refused([&] {
    for (const std::int64_t n : {6, 10, 13, 6}) f(rows(n)).realize();
  });
  const std::size_t entries = f.entries().size();
  const std::string traced = !plans.empty() ? plans : entries == 1 ? "" : "Each extent has an entry of its own.";
  const std::string saved = refused([&] { f.save((folder / "f.oriel").string()); });
  const std::string exported = refused([&] { static_cast<void>(f.export_cpp(folder.string())); });
  const std::string derived = refused([&] {
    const Tensor y = row.call(rows(6));
    if (!is_floating(y.dtype())) throw ArgumentError("grad", "integers");
    static_cast<void>(grad([](Tensor x) { return sum(current(x)); })(rows(6)).realize());
  });
  out << "| `" << row.name << "` | " << reasons.mark(general(traced)) << " | " << reasons.mark(general(saved)) << " | "
      << reasons.mark(general(exported)) << " | " << reasons.mark(general(derived)) << " | "
      << (row.complex ? "yes" : "no") << " |\n";
}

std::string page() {
  const fs::path folder = fs::temp_directory_path() / ("oriel_table_" + std::to_string(::getpid()));
  fs::create_directories(folder);
  std::ostringstream out;
  out << "# What each function can do\n\n"
         "One plan: one entry of a captured function with symbolic sizes serves all numbers of rows. Saved: "
         "`Function::save` writes that entry. Exported: `Function::export_cpp`\n"
         "writes it as C++17 that takes the sizes. Derivative: `grad` of a sum of the result. Complex: an overload "
         "takes "
         "`Complex`. A program (`tests/unit/table/`) tries each cell on a\n"
         "float32 matrix, along its rows, on the CPU, and a test compares this page with what it finds. Functions that "
         "are "
         "not here are elementwise or reductions as these are, or compositions of them.\n\n"
         "| function | one plan | saved | exported | derivative | complex |\n|---|---|---|---|---|---|\n";
  Reasons reasons;
  for (const TableRow& row : table_rows()) write_row(out, row, reasons, folder);
  out << "\n## Why not\n\n";
  for (std::size_t k = 0; k < reasons.texts().size(); ++k) out << k + 1 << ". " << reasons.texts()[k] << '\n';
  fs::remove_all(folder);
  return out.str();
}

}  // namespace

}  // namespace oriel::testing

int main(int count, char** arguments) {
  const std::string found = oriel::testing::page();
  if (count < 2) {
    std::cout << found;
    return 0;
  }
  std::ifstream in(arguments[1]);
  const std::string held((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  if (held == found) return 0;
  std::istringstream a(held), b(found);
  for (std::string left, right; (std::getline(a, left) ? 1 : 0) + (std::getline(b, right) ? 1 : 0) != 0;
       left = right = "")
    if (left != right) std::cout << "page:  " << left << "\nfound: " << right << "\n\n";
  return 1;
}
