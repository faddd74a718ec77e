// Reads and writes matrices of numbers as text: one row a line.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "oriel/api.hpp"
#include "oriel/tensor.hpp"

namespace ORIEL_API oriel {

/// How numbers stand in a text.
struct TextFormat {
  char delimiter = ' ';                         ///< between the numbers of a row; for ' ' any spaces and tabs separate
  char comment = '#';                           ///< what follows it in a line is no number; 0: there are no comments
  std::int64_t skip = 0;                        ///< load_text: lines at the start that are not read
  bool fill = false;                            ///< load_text: may a field between delimiters be empty?
  double missing = __builtin_nan("");           ///< load_text: what an empty field stands for; 0 in integers
  std::vector<std::string> missing_texts = {};  ///< load_text: fields that stand for `missing`, such as "NA" and "-"
  std::vector<std::int64_t> columns = {};  ///< load_text: only these, in this order, from 0 or, if negative, from the
                                           ///< end; the others may hold any text. Empty: all
  std::string header = {};  ///< save_text: lines in front of the numbers, each behind the comment and a space
};

/// The numbers in a text file, as a matrix (rows, columns) of `dtype`. Empty lines and those of comments alone are no
/// rows. Floats may be nan, inf and infinity; bool is whole numbers that are not 0. Whatever the locale, the decimal
/// point is a point. A number beyond the range of a float dtype is infinite. A file without rows gives (0, 0). Lines
/// end in LF, CR LF or CR; a byte order mark of UTF-8 is skipped. A line of delimiters that are no spaces is a row.
/// Reads at once; a named pipe has 5 seconds to get a writer. Throws IoError, which names file, line and column, for
/// what is no number of the dtype, an integer that does not fit, an empty field unless the format fills it, and a row
/// with more or fewer columns than the first; IoError for a file of more than 2^40 bytes, and a pipe or device that
/// gives more than 2^30; ArgumentError for a delimiter or a comment that may be part of a number, for columns that
/// rows lack and for a `missing` that is neither NaN nor a number of an integer dtype. numpy.loadtxt, numpy.genfromtxt.
///   load_text("table.csv", DType::float32, {.delimiter = ',', .skip = 1, .missing_texts = {"NA"}, .columns = {0, 2}})
[[nodiscard]] Tensor load_text(const std::string& path, DType dtype = DType::float64, const TextFormat& format = {},
                               Site site = Site::here());

/// Writes a matrix as one row a line, a vector as one element a line, with as many digits as it takes to read the same
/// numbers again. Runs the pending work. The file is either written completely or not at all; a named pipe has 5
/// seconds to get a reader. Throws ShapeError for other ranks, IoError if the file cannot be written, ArgumentError as
/// load_text and for a header without a comment character. numpy.savetxt.
///   save_text("table.csv", x, {.delimiter = ',', .header = "time,height"})
void save_text(const std::string& path, const Tensor& x, const TextFormat& format = {}, Site site = Site::here());

}  // namespace oriel
