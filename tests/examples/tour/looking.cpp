// Looking inside: kernels, reasons, views before and after merging, source.
#include <oriel/oriel.hpp>

#include <iostream>

int main() {
  using namespace oriel;
  const Tensor x = Tensor::generate({4, 6}, [](auto i) { return float(i[0] * 6 + i[1]); });
  const Tensor y = sum(x.transpose().reshape({4, 6}) * 2, 1);
  const Explanation plan = explain(y);
  const ExplainedKernel& kernel = plan.kernels[0];
  std::cout << kernel.name << ": " << kernel.outputs[0].reason << '\n';
  for (const ExplainedOperand& operand : kernel.operands)
    std::cout << "  " << operand.name << " reads or writes position " << operand.index << '\n';

  std::cout << plan.str();
}
