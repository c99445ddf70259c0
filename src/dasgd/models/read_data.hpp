// From what names the data of a network to its samples.
#pragma once

#include <memory>

#include "dasgd/data/images/idx.hpp"
#include "dasgd/data/samples.hpp"
#include "dasgd/models/problem.hpp"

namespace dasgd {

/// A directory of idx files or of CIFAR-10.
ImageSet read_images(const std::string& directory);

/// The data of a network: a directory of images; a text for char-transformer or where it ends in
/// .txt; rows of numbers in a .csv file; LIBSVM text otherwise. Throws InputError.
std::shared_ptr<const Samples> read_samples(const ProblemChoice& choice);

}  // namespace dasgd
