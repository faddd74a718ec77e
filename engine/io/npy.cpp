#include "oriel/npy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>

#include "base/escape.hpp"
#include "io/file.hpp"
#include "io/npy_header.hpp"
#include "oriel/complex.hpp"
#include "oriel/error.hpp"

namespace oriel {
namespace io {
namespace {

constexpr std::size_t kMaxHeaderBytes = std::size_t{1} << 20;
/// Bytes read at a time, so that a forged shape cannot make us allocate more memory than the file fills.
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

template <class T>
Tensor adopt(Bytes bytes, const Shape& shape, Site site) {
  auto* owner = new Bytes(std::move(bytes));
  static T none{};
  T* data = owner->empty() ? &none : reinterpret_cast<T*>(owner->data());
  return Tensor::adopt(
      data, shape, [owner](T*) { delete owner; }, site);
}

Tensor to_tensor(DType dtype, Bytes bytes, const Shape& shape, Site site) {
  switch (dtype) {
    case DType::bool_:
      for (unsigned char& byte : bytes) byte = byte != 0 ? 1 : 0;
      return adopt<bool>(std::move(bytes), shape, site);
    case DType::int8:
      return adopt<std::int8_t>(std::move(bytes), shape, site);
    case DType::int16:
      return adopt<std::int16_t>(std::move(bytes), shape, site);
    case DType::int32:
      return adopt<std::int32_t>(std::move(bytes), shape, site);
    case DType::int64:
      return adopt<std::int64_t>(std::move(bytes), shape, site);
    case DType::uint8:
      return adopt<std::uint8_t>(std::move(bytes), shape, site);
    case DType::uint16:
      return adopt<std::uint16_t>(std::move(bytes), shape, site);
    case DType::uint32:
      return adopt<std::uint32_t>(std::move(bytes), shape, site);
    case DType::uint64:
      return adopt<std::uint64_t>(std::move(bytes), shape, site);
    case DType::float16:
      return adopt<float16_t>(std::move(bytes), shape, site);
    case DType::float32:
      return adopt<float>(std::move(bytes), shape, site);
    case DType::float64:
      return adopt<double>(std::move(bytes), shape, site);
    default:
      throw InternalError("read_npy", "a dtype that no header names");
  }
}

template <class T>
void append_elements(Bytes& out, const Tensor& array) {
  const std::size_t before = out.size();
  out.resize(before + static_cast<std::size_t>(array.numel()) * sizeof(T));
  if (array.numel() == 0) return;
  std::vector<T> elements = array.to_vector<T>();
  std::memcpy(out.data() + before, elements.data(), out.size() - before);
}

void append_elements(Bytes& out, const Tensor& array) {
  switch (array.dtype()) {
    case DType::bool_: {
      const std::vector<bool> elements = array.to_vector<bool>();
      out.insert(out.end(), elements.begin(), elements.end());
      return;
    }
    case DType::int8:
      return append_elements<std::int8_t>(out, array);
    case DType::int16:
      return append_elements<std::int16_t>(out, array);
    case DType::int32:
      return append_elements<std::int32_t>(out, array);
    case DType::int64:
      return append_elements<std::int64_t>(out, array);
    case DType::uint8:
      return append_elements<std::uint8_t>(out, array);
    case DType::uint16:
      return append_elements<std::uint16_t>(out, array);
    case DType::uint32:
      return append_elements<std::uint32_t>(out, array);
    case DType::uint64:
      return append_elements<std::uint64_t>(out, array);
    case DType::float16:
      return append_elements<float16_t>(out, array);
    case DType::float32:
      return append_elements<float>(out, array);
    case DType::float64:
      return append_elements<double>(out, array);
    case DType::bfloat16:
      throw DTypeError("write_npy", "NumPy has no bfloat16; write x.to(DType::float32)");
  }
}

/// The array in a file whose elements are complex or not, as `complex` says; pairs have a last axis of 2.
Tensor read_array(const std::string& path, bool complex, Site site) {
  try {
    InputFile file("read_npy", path);
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
    Bytes elements;
    while (elements.size() < bytes) {
      const std::size_t before = elements.size();
      file.read(elements, std::min(bytes - before, kPieceBytes));
      if (elements.size() == before)
        refuse_npy(path, fmt::format("the file ends after {} of {} bytes of elements", before, bytes));
    }
    Tensor tensor = to_tensor(header.dtype, std::move(elements), shape, site);
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
  return io::read_array(path, false, site);
}

Complex read_npy_complex(const std::string& path, Site site) {
  const detail::CallSite call(site);
  return view_as_complex(io::read_array(path, true, site), site);
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
