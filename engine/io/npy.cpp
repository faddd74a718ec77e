#include "oriel/npy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <optional>

#include "base/escape.hpp"
#include "formula/call.hpp"
#include "io/file.hpp"
#include "io/npy_header.hpp"
#include "memory/machine.hpp"
#include "oriel/complex.hpp"
#include "oriel/error.hpp"

namespace oriel {
namespace io {
namespace {

constexpr std::size_t kMaxHeaderBytes = std::size_t{1} << 20;
/// Bytes of elements read at a time.
constexpr std::size_t kPieceBytes = std::size_t{64} << 20;

NpyHeader read_header(InputFile& file, const std::string& path) {
  Bytes start;
  file.read(start, 10);
  constexpr unsigned char kMagic[] = {0x93, 'N', 'U', 'M', 'P', 'Y'};
  constexpr unsigned char kArchive[] = {'P', 'K'};
  if (start.size() >= 2 && std::equal(std::begin(kArchive), std::end(kArchive), start.begin())) {
    refuse_npy(path,
               "an archive of arrays (.npz), not one array; unpack it (unzip, or Python's zipfile), or save each array "
               "of it by numpy.save, and read the .npy files");
  }
  if (start.size() < 10 || !std::equal(std::begin(kMagic), std::end(kMagic), start.begin())) {
    refuse_npy(path, "no .npy file by its first bytes; numpy.save writes one");
  }
  const int version = start[6];
  if (version < 1 || version > 3 || start[7] != 0) {
    refuse_npy(path, fmt::format("version {}.{} of the format; 1.0, 2.0 and 3.0 are read", version, start[7]));
  }
  if (version > 1) file.read(start, 2);
  std::size_t length = 0;
  for (std::size_t k = start.size(); k-- > 8;) length = length << 8 | start[k];
  if (length > kMaxHeaderBytes) refuse_npy(path, fmt::format("no header has {} bytes", length));
  Bytes text;
  file.read(text, length);
  if (text.size() != length) refuse_npy(path, "the file ends inside its header");
  return parse_npy_header({reinterpret_cast<const char*>(text.data()), text.size()}, path);
}

/// Memory that grows to what has arrived. Large blocks grow without a copy.
struct Free {
  void operator()(void* data) const noexcept { std::free(data); }
};
using Memory = std::unique_ptr<void, Free>;

[[noreturn]] void refuse_end(const std::string& path, std::size_t after, std::size_t bytes) {
  refuse_npy(path, fmt::format("the file ends after {} of {} bytes of elements", after, bytes));
}

/// The elements, `bytes` of them. So a forged shape allocates no more than a piece beyond what the file fills.
Memory read_elements(InputFile& file, std::size_t bytes, const std::string& path) {
  if (const std::optional<std::size_t> rest = file.rest(); rest && *rest < bytes) refuse_end(path, *rest, bytes);
  if (bytes > mem::machine_memory())
    throw MemoryError("read_npy", fmt::format("\"{}\" states {} bytes of elements; the machine has {} bytes of memory",
                                              base::escaped(path), bytes, mem::machine_memory()));
  Memory memory;
  for (std::size_t got = 0; got < bytes;) {
    const std::size_t step = std::min(bytes - got, kPieceBytes);
    void* const grown = std::realloc(memory.get(), got + step);
    if (grown == nullptr) throw std::bad_alloc();
    static_cast<void>(memory.release());
    memory.reset(grown);
    const std::size_t came = file.read(static_cast<unsigned char*>(grown) + got, step);
    got += came;
    if (came < step) refuse_end(path, got, bytes);
  }
  return memory;
}

/// Elements in memory that is freed with the tensor.
Tensor to_tensor(DType dtype, std::shared_ptr<unsigned char> memory, std::size_t bytes, const Shape& shape, Site site) {
  unsigned char* const data = memory.get();
  if (dtype == DType::bool_) {
    for (std::size_t k = 0; k < bytes; ++k)
      if (data[k] > 1) data[k] = 1;
  }
  // A header of another length than the format asks for.
  if (reinterpret_cast<std::uintptr_t>(data) % itemsize(dtype) != 0)
    return detail::Access::copied(dtype, data, shape, site);
  return detail::Access::adopted(
      dtype, data, shape, [memory](void*) {}, "read_npy", site);
}

void append_elements(Bytes& out, const Tensor& array) {
  if (array.dtype() == DType::bfloat16)
    throw DTypeError("write_npy", "NumPy has no bfloat16; write x.to(DType::float32)");
  if (array.numel() == 0) return;
  const detail::Shared<const void> elements = detail::Access::elements(on_host(array), "write_npy");
  const auto* const first = static_cast<const unsigned char*>(elements.get());
  out.insert(out.end(), first, first + array.count() * itemsize(array.dtype()));
}

/// How elements come into memory.
enum class Reading { read, mapped };

/// The array in a file whose elements are complex or not, as `complex` says; pairs have a last axis of 2.
Tensor read_array(const std::string& path, bool complex, Reading way, Site site) {
  try {
    InputFile file("read_npy", path, way == Reading::read ? InputFile::Kind::any : InputFile::Kind::regular);
    const NpyHeader header = read_header(file, path);
    if (header.complex != complex) {
      refuse_npy(path, complex ? "elements are real; read_npy reads them"
                               : "elements are complex; read_npy_complex reads them");
    }
    Shape shape(header.shape.begin(), header.shape.end());
    if (header.fortran) std::reverse(shape.begin(), shape.end());
    const std::size_t rank = shape.size();
    if (complex) shape.push_back(2);
    std::size_t bytes = 0;
    try {
      bytes = static_cast<std::size_t>(
          (numel(shape, "read_npy") * static_cast<std::int64_t>(itemsize(header.dtype))).value());
    } catch (const OverflowError&) {
      refuse_npy(path, fmt::format("shape {} is more than 2^63 - 1 bytes", to_string(shape)));
    }
    std::shared_ptr<unsigned char> memory;
    if (way == Reading::read) {
      Memory read = read_elements(file, bytes, path);
      memory = {static_cast<unsigned char*>(read.release()), Free()};
    } else {
      const std::size_t rest = file.rest().value_or(0);
      if (rest < bytes) refuse_end(path, rest, bytes);
      const std::shared_ptr<unsigned char> all = file.map();
      memory = {all, all.get() + (file.size().value_or(0) - rest)};
    }
    Tensor tensor = to_tensor(header.dtype, std::move(memory), bytes, shape, site);
    if (!header.fortran || rank < 2) return tensor;
    Ints order;
    for (std::size_t d = rank; d-- > 0;) order.push_back(d);
    if (complex) order.push_back(rank);
    return tensor.permute(order, site);
  } catch (const std::bad_alloc&) {
    throw MemoryError("read_npy", fmt::format("no memory to read \"{}\"", base::escaped(path)));
  }
}

void write_array(const std::string& path, const Shape& shape, const Tensor& array, bool complex) {
  try {
    NpyHeader header;
    header.dtype = array.dtype();
    header.complex = complex;
    for (const SymInt extent : shape) header.shape.push_back(extent.value());
    Bytes bytes = npy_header(header);
    append_elements(bytes, array);
    replace_file("write_npy", path, bytes);
  } catch (const std::bad_alloc&) {
    throw MemoryError("write_npy", fmt::format("no memory to write \"{}\"", base::escaped(path)));
  }
}

}  // namespace
}  // namespace io

Tensor read_npy(const std::string& path, Site site) {
  const detail::CallSite call(site);
  return io::read_array(path, false, io::Reading::read, site);
}

Tensor map_npy(const std::string& path, Site site) {
  const detail::CallSite call(site);
  return io::read_array(path, false, io::Reading::mapped, site);
}

Complex read_npy_complex(const std::string& path, Site site) {
  const detail::CallSite call(site);
  return view_as_complex(io::read_array(path, true, io::Reading::read, site), site);
}

void write_npy(const std::string& path, const Tensor& array, Site site) {
  const detail::CallSite call(site);
  io::write_array(path, array.shape(), array, false);
}

void write_npy(const std::string& path, const Complex& array, Site site) {
  const detail::CallSite call(site);
  io::write_array(path, array.shape(), as_pairs(ComplexArgument(array, site)), true);
}

}  // namespace oriel
