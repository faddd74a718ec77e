// Batches of data: the rows of arrays in an order that a key gives.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "oriel/api.hpp"
#include "oriel/grad.hpp"
#include "oriel/random.hpp"
#include "oriel/tensor.hpp"

namespace ORIEL_API oriel {

/// How rows are divided into batches.
struct BatchOptions {
  std::int64_t size = 64;  ///< rows of a batch, at least 1; the last one may have fewer
  bool shuffle = true;     ///< each epoch has another order; else the rows are in the order of the arrays
  bool drop_last = false;  ///< rows that fill no batch are left out, so that all batches have one size
};

namespace detail {
/// The number of rows of all arrays. Throws ShapeError unless they agree, ArgumentError for options.
std::int64_t rows_of(std::span<const Tensor> arrays, const BatchOptions& options, Site site);
/// The order of an epoch, in memory.
Tensor epoch_order(const Key& key, std::int64_t rows, const BatchOptions& options, std::int64_t epoch, Site site);
std::vector<Tensor> rows_at(std::span<const Tensor> arrays, const Tensor& order, std::int64_t first, std::int64_t next,
                            Site site);
}  // namespace detail

/// Batches of the rows (entries along axis 0) of a structure of arrays, such as images and their labels. The order of
/// an epoch is a function of the key and of the epoch's number alone, so that a run goes on where another ended. Arrays
/// may be mapped files (map_npy): a batch reads its own rows. A batch is pending work, which fuses with nothing behind
/// it where it is passed to a captured function. Thread safety: as Tensor.
///   const Batches data(std::pair(map_npy("images.npy"), map_npy("labels.npy")), Key(1), {.size = 64});
///   for (std::int64_t epoch = 0; epoch < 10; ++epoch)
///     for (const auto& [images, labels] : data.epoch(epoch)) ...
template <class Arrays>
class Batches {
 public:
  /// Throws ShapeError for arrays without axes or of different extents along axis 0, ArgumentError for a size below 1.
  explicit Batches(Arrays arrays, Key key = Key(0, Site::unknown()), BatchOptions options = {},
                   Site site = Site::here())
      : arrays_(std::move(arrays)),
        parts_(detail::parts_of(arrays_)),
        key_(std::move(key)),
        options_(options),
        rows_(detail::rows_of(parts_, options, site)) {}

  /// Batches in an epoch.
  std::int64_t count() const noexcept {
    return options_.drop_last ? rows_ / options_.size : (rows_ + options_.size - 1) / options_.size;
  }
  /// Rows of the arrays.
  std::int64_t rows() const noexcept { return rows_; }

  /// The batches of one epoch. Refers to the Batches.
  class Epoch {
   public:
    /// Batch k, from 0.
    Arrays operator[](std::int64_t k) const {
      const std::int64_t first = k * of_->options_.size;
      const std::int64_t next = first + of_->options_.size < of_->rows_ ? first + of_->options_.size : of_->rows_;
      return detail::with_parts(of_->arrays_, detail::rows_at(of_->parts_, order_, first, next, Site::unknown()));
    }
    std::int64_t size() const noexcept { return of_->count(); }  ///< batches in the epoch

    /// Visits the batches of an epoch in their order. Refers to the Epoch.
    struct Iterator {
      const Epoch* of;                               ///< whose batches it visits
      std::int64_t k;                                ///< the number of the batch, from 0; size() at the end
      Arrays operator*() const { return (*of)[k]; }  ///< makes batch k
      /// Goes to the next batch.
      Iterator& operator++() {
        ++k;
        return *this;
      }
      /// Are both at the same batch? They belong to one epoch.
      bool operator==(const Iterator& other) const noexcept { return k == other.k; }
    };
    Iterator begin() const { return {this, 0}; }     ///< at batch 0
    Iterator end() const { return {this, size()}; }  ///< behind the last batch

   private:
    friend class Batches;
    Epoch(const Batches* of, Tensor order) : of_(of), order_(std::move(order)) {}
    const Batches* of_;
    Tensor order_;
  };

  /// The epoch of this number. Runs the work that orders its rows.
  Epoch epoch(std::int64_t number, Site site = Site::here()) const {
    return Epoch(this, detail::epoch_order(key_, rows_, options_, number, site));
  }

 private:
  Arrays arrays_;
  std::vector<Tensor> parts_;
  Key key_;
  BatchOptions options_;
  std::int64_t rows_;
};

}  // namespace oriel
