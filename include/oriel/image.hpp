// Images from and to files.
#pragma once

#include <string>

#include "oriel/tensor.hpp"

namespace oriel {

/// The image in a file, as (height, width) for grey and (height, width, channels) for 3 colours; a PNG with
/// transparency has an alpha channel last, so 2 or 4 channels. uint8 where the file has at most 8 bits a sample, else
/// uint16; samples of fewer bits are scaled so that full light is 255 or 65535. The format is told by the file's first
/// bytes, not by its name: PGM and PPM (P2, P3, P5, P6; http://netpbm.sourceforge.net/doc) and PNG. Reads now and keeps
/// one copy. Throws IoError, naming the file, where it cannot be read, is of another format, cut short or broken, or
/// holds more than 2^30 bytes of pixels.
///   auto photo = oriel::read_image("ascent.pgm");  // uint8 (512, 512)
Tensor read_image(const std::string& path, Site site = Site::here());

/// Writes an image of uint8 or uint16, in the format that the name ends on: .png (height, width) or (height, width, 1
/// to 4 channels), .pgm grey, .ppm 3 colours. Runs the pending work that the image needs. The file appears whole or not
/// at all: what stood there before is replaced only once the new bytes are on the file system. Throws ArgumentError for
/// another ending, DTypeError, ShapeError for other shapes or more than 2^30 bytes, IoError where the file cannot be
/// written.
///   oriel::write_image("edges.png", round(clamp(edges, 0, 1) * 255).to(oriel::DType::uint8));
void write_image(const std::string& path, const Tensor& image);

}  // namespace oriel
