// Trains a convolutional network on handwritten digits, and exports the classifier as C++.
//
//   digits IMAGES.npy LABELS.npy FOLDER [--seed N] [--epochs N] [--until N] [--splits N] [--resume] [--at-least
//   PERCENT] [--export]
//
// A fifth of the images is held out. FOLDER gets a checkpoint after every epoch (digits.safetensors, with which
// --resume goes on, to the same bits), the learning curve (curve.png: losses by step, accuracies by epoch), the
// confusion matrix of the last split (confusion.png) and, with --export, the classifier as source, which is built and
// asked for the digits that were held out. With several splits the median of their accuracies counts.
#include <oriel/optim.hpp>
#include <oriel/oriel.hpp>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <string>
#include <tuple>
#include <vector>

namespace {

using namespace oriel;

constexpr std::int64_t kClasses = 10, kBatch = 32;

/// Two convolutions, and two layers of all pixels.
struct Network {
  Tensor w1, b1, w2, b2, w3, b3, w4, b4;

  explicit Network(const Key& key) {
    const std::vector<Key> keys = split(key, 4);
    w1 = he_normal(keys[0], {16, 1, 3, 3});
    w2 = he_normal(keys[1], {32, 16, 3, 3});
    w3 = he_normal(keys[2], {512, 64}, {.gain = 1.4142135623730951, .fan = Fan::out});
    w4 = xavier_uniform(keys[3], {64, kClasses});
    b1 = zeros({16});
    b2 = zeros({32});
    b3 = zeros({64});
    b4 = zeros({kClasses});
  }

  /// Logits of images (n, 8, 8) with numbers from 0 to 16. `drop` is called with values that training thins out.
  template <class Drop>
  Tensor operator()(const Tensor& images, Drop&& drop) const {
    const Tensor x = images.to(DType::float32).unsqueeze(1) / 16;
    const Tensor a = relu(conv2d(x, w1, b1, {.padding = {1, 1}}));
    const Tensor b = max_pool2d(relu(conv2d(a, w2, b2, {.padding = {1, 1}})), {2, 2});
    const Tensor c = relu(matmul(drop(b.reshape({images.size(0), 512}), 0), w3) + b3);
    return matmul(drop(c, 1), w4) + b4;
  }
  Tensor operator()(const Tensor& images) const {
    return (*this)(images, [](const Tensor& x, int) { return x; });
  }
};
auto oriel_members(Network& n) { return std::tie(n.w1, n.b1, n.w2, n.b2, n.w3, n.b3, n.w4, n.b4); }
auto oriel_members(const Network& n) { return std::tie(n.w1, n.b1, n.w2, n.b2, n.w3, n.b3, n.w4, n.b4); }

/// One step: loss, network and state afterwards. The key of what is dropped follows from the number of the step.
const auto train = oriel::function(
    [](Network network, OptimizerState state, Key key, Tensor images, Tensor labels, Tensor last) {
      const std::vector<Key> keys = split(fold_in(key, state.step), 2);
      const auto loss_of = [&](const Network& n) {
        const Tensor logits = n(images, [&](const Tensor& x, int k) { return dropout(keys[std::size_t(k)], x, 0.25); });
        return cross_entropy(logits, labels, {.label_smoothing = 0.1, .bounds = Bounds::zero});
      };
      const auto [loss, gradient] = value_and_grad(loss_of)(network);
      // Up in 50 steps, then down by a half cosine to the last one.
      const Tensor rate = 3e-3 * warmup_schedule(state.step + 1, 50) * cosine_schedule(state.step, last);
      const auto [next, after] = step(AdamW{}, network, gradient, state, rate);
      return std::tuple(loss, next, after);
    },
    {.names = {"network", "state", "key", "images", "labels", "last"}});

/// The class of each image.
const auto classify = oriel::function([](Network network, Tensor images) { return argmax(network(images), 1); },
                                      {.names = {"network", "images"}});

struct Options {
  std::string images, labels, folder;
  std::uint64_t seed = 0;
  std::int64_t epochs = 20, until = 1 << 20, splits = 1;
  bool resume = false, exports = false;
  double at_least = 0;
};

double percent_equal(const Tensor& a, const Tensor& b) {
  return mean((a == b).to(DType::float64)).item<double>() * 100;
}

/// A picture of the losses by step (grey, left) and of the accuracies by epoch (blue), from bottom to top.
void draw_curve(const std::string& path, const std::vector<float>& losses, const std::vector<double>& accuracies) {
  constexpr std::int64_t kHeight = 240, kWidth = 480;
  std::vector<std::uint8_t> pixels(kHeight * kWidth * 3, 255);
  const auto dot = [&](double x, double y, std::uint8_t r, std::uint8_t g, std::uint8_t b) {
    const auto column = std::clamp<std::int64_t>(std::int64_t(x * (kWidth - 1)), 0, kWidth - 1);
    const auto row = std::clamp<std::int64_t>(std::int64_t((1 - y) * (kHeight - 1)), 0, kHeight - 1);
    std::uint8_t* const at = &pixels[std::size_t((row * kWidth + column) * 3)];
    at[0] = r, at[1] = g, at[2] = b;
  };
  const double most = *std::max_element(losses.begin(), losses.end());
  for (std::size_t k = 0; k < losses.size(); ++k)
    dot(double(k) / double(losses.size()), double(losses[k]) / most, 150, 150, 150);
  // Between neighbours a line; from 90 % below to 100 % above.
  for (std::size_t k = 0; k + 1 < accuracies.size(); ++k)
    for (double t = 0; t < 1; t += 0.01)
      dot((double(k) + t + 1) / double(accuracies.size()), ((1 - t) * accuracies[k] + t * accuracies[k + 1] - 90) / 10,
          20, 60, 200);
  write_image(path, Tensor::from(pixels, {kHeight, kWidth, 3}));
}

/// Rows: digits; columns: answers. The darker, the more; a cell of 24 pixels.
void draw_confusion(const std::string& path, const Tensor& answers, const Tensor& labels) {
  const Tensor pairs = bincount(labels.to(DType::int64) * kClasses + answers, kClasses * kClasses);
  const Tensor counts = pairs.to(DType::float32).reshape({kClasses, kClasses});
  const Tensor shares = counts / maximum(sum(counts, 1, true), 1);
  const Tensor cells = (255 * (1 - sqrt(shares))).to(DType::uint8).reshape({kClasses, 1, kClasses, 1});
  write_image(path, cells.expand({kClasses, 24, kClasses, 24}).reshape({kClasses * 24, kClasses * 24}));
}

/// Writes the classifier of one image as C++, builds it, and compares its answers with the engine's.
bool check_export(const Network& network, const Tensor& images, const std::string& folder) {
  const Tensor image = zeros({1, 8, 8}, DType::uint8).realize();  // a placeholder for the input
  const ExportedFiles files = export_cpp(
      {softmax(network(image), 1)}, folder,
      {.name = "digit_classifier", .inputs = {{"image", image}}, .outputs = {"shares"}, .embed_bytes = 1 << 20});
  std::ofstream(folder + "/digit_main.cpp") << R"(#include <cstdio>
#include <cstdlib>
#include "digit_classifier.cpp"
int main(int, char** words) {
  namespace d = digit_classifier;
  std::FILE* const file = std::fopen(words[1], "rb");
  alignas(64) static unsigned char image[64], scratch[d::kScratchBytes + 64];
  alignas(64) static float shares[10];
  while (std::fread(image, 1, 64, file) == 64) {
    if (d::run({image}, {shares}, scratch) != d::Status::ok) return 1;
    int best = 0;
    for (int k = 1; k < 10; ++k) if (shares[k] > shares[best]) best = k;
    std::printf("%d\n", best);
  }
}
)";
  const std::vector<std::uint8_t> pixels = images.to_vector<std::uint8_t>();
  std::ofstream(folder + "/digits.raw", std::ios::binary)
      .write(reinterpret_cast<const char*>(pixels.data()), std::streamsize(pixels.size()));
  const std::string build = "cd '" + folder +
                            "' && c++ -std=c++17 -O1 -ffp-contract=off $(pkg-config --cflags eigen3) " +
                            "digit_main.cpp -o digit_main && ./digit_main digits.raw > digits.txt";
  if (std::system(build.c_str()) != 0) return false;
  std::ifstream answers(folder + "/digits.txt");
  std::int64_t same = 0, count = 0;
  for (const std::int64_t want : classify(network, images).to_vector<std::int64_t>()) {
    std::int64_t got = -1;
    answers >> got;
    same += got == want ? 1 : 0;
    ++count;
  }
  std::cout << "exported: " << files.kernels << " kernels, " << files.embedded_bytes << " bytes of weights; " << same
            << " equal answers of " << count << '\n';
  return same == count;
}

/// Trains on four fifths of the data. Returns the accuracy on the others, in percent.
double run(const Options& options, std::uint64_t seed, const Tensor& images, const Tensor& labels) {
  const auto begin = std::chrono::steady_clock::now();
  const std::vector<Key> keys = split(Key(seed), 4);
  const Tensor order = permutation(keys[0], images.size(0)).realize();
  const std::int64_t held = images.extent(0) / 5;
  const auto rows = [&](const Tensor& x, const Slice& which) { return take(x, order.slice({which})).realize(); };
  const Tensor test_images = rows(images, {{}, held}), test_labels = rows(labels, {{}, held});
  const Batches data(std::pair(rows(images, {held}), rows(labels, {held})), keys[1],
                     {.size = kBatch, .drop_last = true});
  const Tensor last = scalar(static_cast<float>(options.epochs * data.count()));

  Network network = packed(Network(keys[2]));
  OptimizerState state = start(AdamW{}, network);
  std::vector<float> losses;
  std::vector<double> accuracies;
  const std::string checkpoint = options.folder + "/digits.safetensors";
  if (options.resume && std::filesystem::exists(checkpoint)) {
    const Safetensors file = read_safetensors(checkpoint);
    network = packed(restored(file.tensors, "network", network));
    state = restored(file.tensors, "state", state);
    losses = file.tensors.at("losses").to_vector<float>();
    accuracies = file.tensors.at("accuracies").to_vector<double>();
  }

  for (auto epoch = std::int64_t(accuracies.size()); epoch < std::min(options.epochs, options.until); ++epoch) {
    std::vector<Tensor> of_steps;
    for (const auto& [x, y] : data.epoch(epoch)) {
      Tensor loss;
      std::tie(loss, network, state) = train(network, state, keys[3], x, y, last);
      of_steps.push_back(loss);
    }
    const std::vector<float> now = stack(of_steps).to_vector<float>();
    losses.insert(losses.end(), now.begin(), now.end());
    accuracies.push_back(percent_equal(classify(network, test_images), test_labels));
    write_safetensors(checkpoint,
                      named("network", network, "state", state, "losses", Tensor::from(losses), "accuracies",
                            Tensor::from(accuracies)),
                      {{"epoch", std::to_string(epoch + 1)}});
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
    std::cout << "\repoch " << epoch + 1 << " of " << options.epochs << "  loss " << std::fixed << std::setprecision(4)
              << losses.back() << "  accuracy " << std::setprecision(2) << accuracies.back() << " %  "
              << std::setprecision(1) << time.count() << " s " << std::flush;
  }
  std::cout << '\n';
  draw_curve(options.folder + "/curve.png", losses, accuracies);
  draw_confusion(options.folder + "/confusion.png", classify(network, test_images), test_labels);
  if (options.exports && !check_export(network, test_images, options.folder)) return 0;
  return accuracies.back();
}

}  // namespace

int main(int count, char** arguments) {
  const std::vector<std::string> words(arguments + 1, arguments + count);
  if (words.size() < 3) {
    std::cerr << "digits IMAGES.npy LABELS.npy FOLDER [--seed N] [--epochs N] [--until N] [--splits N] [--resume] "
                 "[--at-least PERCENT] "
                 "[--export]\n";
    return 2;
  }
  Options options{words[0], words[1], words[2]};
  for (std::size_t k = 3; k < words.size(); ++k) {
    const auto number = [&] { return k + 1 < words.size() ? std::stod(words[++k]) : 0.0; };
    if (words[k] == "--seed") options.seed = std::uint64_t(number());
    if (words[k] == "--epochs") options.epochs = std::int64_t(number());
    if (words[k] == "--until") options.until = std::int64_t(number());
    if (words[k] == "--splits") options.splits = std::int64_t(number());
    if (words[k] == "--at-least") options.at_least = number();
    if (words[k] == "--resume") options.resume = true;
    if (words[k] == "--export") options.exports = true;
  }
  try {
    std::filesystem::create_directories(options.folder);
    const Tensor images = map_npy(options.images), labels = map_npy(options.labels);
    std::vector<double> accuracies;
    for (std::int64_t k = 0; k < options.splits; ++k)
      accuracies.push_back(run(options, options.seed + std::uint64_t(k), images, labels));
    std::sort(accuracies.begin(), accuracies.end());
    const double median = accuracies[accuracies.size() / 2];
    std::cout << "median accuracy " << std::setprecision(2) << median << " %, " << train.entries()[0].kernels.size()
              << " kernels a step, " << train.counts().traces << " traces\n";
    return median >= options.at_least ? 0 : 1;
  } catch (const Error& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
