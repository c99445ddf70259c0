// Images with a test set of their own, as models take them.
#pragma once

#include <memory>

#include "dasgd/data/images/idx.hpp"
#include "dasgd/data/preparation/prepared_samples.hpp"

namespace dasgd {

/// The test set becomes the validation part; each channel is scaled to mean 0 and deviation 1 over
/// the training images unless said otherwise.
std::shared_ptr<const PreparedSamples> image_samples(ImageSet images,
                                                     PreparedSamples::Options options = {});

}  // namespace dasgd
