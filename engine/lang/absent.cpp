// In place of this folder in the profile small: each function of oriel/comprehension.hpp says what it would need.
#include <string_view>

#include "base/absent.hpp"
#include "oriel/comprehension.hpp"

namespace oriel {

namespace {

[[noreturn]] void no_comprehensions(std::string_view operation) { base::throw_absent(operation, "comprehensions"); }

}  // namespace

Comprehension comprehension(std::string_view /*text*/, std::string_view /*name*/, std::string_view /*file*/) {
  no_comprehensions("comprehension");
}
std::vector<Comprehension> comprehensions(std::string_view /*text*/, std::string_view /*file*/) {
  no_comprehensions("comprehensions");
}
void set_comprehension_warning_sink(Callback<void(const ComprehensionWarning&)> /*sink*/) {
  no_comprehensions("set_comprehension_warning_sink");
}

// A Comprehension comes from the functions above, so nobody has one.
std::string Comprehension::name() const { no_comprehensions("Comprehension"); }
std::vector<std::string> Comprehension::parameters() const { no_comprehensions("Comprehension"); }
std::vector<std::string> Comprehension::results() const { no_comprehensions("Comprehension"); }
std::string Comprehension::canonical_text() const { no_comprehensions("Comprehension"); }
std::vector<ComprehensionWarning> Comprehension::warnings() const { no_comprehensions("Comprehension"); }
ComprehensionRanges Comprehension::ranges(ListOf<Shape> /*shapes*/, const ComprehensionOptions& /*options*/) const {
  no_comprehensions("Comprehension");
}
ComprehensionResults Comprehension::call(std::span<const Operand> /*arguments*/,
                                         const ComprehensionOptions& /*options*/, Site /*site*/) const {
  no_comprehensions("Comprehension");
}
void Comprehension::expect_size(std::string_view /*name*/, const Operand& /*value*/,
                                std::span<const Operand> /*arguments*/) const {
  no_comprehensions("Comprehension");
}
const Tensor& ComprehensionResults::operator[](std::string_view /*name*/) const {
  no_comprehensions("ComprehensionResults");
}
const Tensor& ComprehensionResults::tensor() const { no_comprehensions("ComprehensionResults"); }
Operand::Operand(const ComprehensionResults& results, Site site) : tensor_(&results.tensor()), site_(site) {}

}  // namespace oriel
