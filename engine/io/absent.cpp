// In place of the readers and writers of images and safetensors in the profile small, which needs no libpng and no
// reader of JSON.
#include "base/absent.hpp"
#include "oriel/image.hpp"
#include "oriel/safetensors.hpp"

namespace oriel {

Tensor read_image(const std::string& /*path*/, Site site) {
  const detail::CallSite call(site);
  base::throw_absent("read_image", "images");
}
void write_image(const std::string& /*path*/, const Tensor& /*image*/, Site site) {
  const detail::CallSite call(site);
  base::throw_absent("write_image", "images");
}
Safetensors read_safetensors(const std::string& /*path*/, Site site) {
  const detail::CallSite call(site);
  base::throw_absent("read_safetensors", "safetensors");
}
void write_safetensors(const std::string& /*path*/, const NamedTensors& /*tensors*/, const NamedTexts& /*metadata*/,
                       Site site) {
  const detail::CallSite call(site);
  base::throw_absent("write_safetensors", "safetensors");
}
Tensor detail::entry_like(const NamedTensors& /*tensors*/, const std::string& /*name*/, const Tensor& /*like*/,
                          Site site) {
  const CallSite call(site);
  base::throw_absent("restored", "safetensors");
}

}  // namespace oriel
