// Exports a small network as C++ into the given folder, to test that the source compiles without warnings.
#include <oriel/oriel.hpp>

int main(int count, char** arguments) {
  using oriel::Tensor;
  if (count != 2) return 2;
  const auto numbers = [](oriel::Shape shape) {
    return (sin(iota(shape).to(oriel::DType::float32) * 0.7) * 0.1).realize();
  };
  const Tensor x = numbers({32, 64});
  const Tensor hidden = gelu(matmul(x, numbers({64, 48})) + numbers({48}));
  const Tensor out = softmax(matmul(layer_norm(hidden, -1), numbers({48, 10})) + numbers({10}), -1);
  const Tensor picked = take(out, oriel::arange(16) * 2, 0);
  oriel::export_cpp(
      {out, argmax(out, -1), picked}, arguments[1],
      {.name = "mlp", .inputs = {{"x", x}}, .outputs = {"out", "best", "picked"}, .embed_bytes = 1 << 20});
}
