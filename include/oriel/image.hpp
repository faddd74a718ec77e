// Reads and writes image files.
#pragma once

#include <string>

#include "oriel/api.hpp"
#include "oriel/tensor.hpp"

namespace ORIEL_API oriel {

/// Reads an image: shape (height, width) for grey and (height, width, 3) for colour. A PNG with transparency has alpha
/// as its last channel, so it has 2 or 4 channels. The dtype is uint8 if the file has at most 8 bits per sample, else
/// uint16; samples of fewer bits are scaled so that white is 255 or 65535. The formats are PBM, PGM and PPM (P1 to P6;
/// http://netpbm.sourceforge.net/doc) and PNG. They are recognised by the first bytes of the file, not by its name.
/// Reads at once and keeps one copy; a named pipe has 5 seconds to get a writer. Throws IoError, naming the file, if it
/// cannot be read, has another format, is truncated or corrupt, has more than 2^31 bytes, or holds more than 2^30 bytes
/// of pixels.
///   auto photo = oriel::read_image("ascent.pgm");  // uint8 (512, 512)
[[nodiscard]] Tensor read_image(const std::string& path, Site site = Site::here());

/// Writes an image of dtype uint8 or uint16. The file name's extension selects the format and the shapes that it takes:
/// .png (height, width) or (height, width, 1 to 4), .pgm grey, .ppm (height, width, 3). Runs the pending work that the
/// image needs. The file is either written completely or not at all: an existing file is replaced only after the new
/// bytes are on the file system. A named pipe has 5 seconds to get a reader. Throws ArgumentError for another
/// extension, DTypeError for another dtype, ShapeError for another shape or more than 2^30 bytes, IoError if the file
/// cannot be written.
///   oriel::write_image("edges.png", round(clamp(edges, 0, 1) * 255).to(oriel::DType::uint8));
void write_image(const std::string& path, const Tensor& image, Site site = Site::here());

}  // namespace oriel
