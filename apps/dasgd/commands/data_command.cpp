#include <cstdlib>
#include <filesystem>
#include <unistd.h>

#include "commands/commands.hpp"
#include "dasgd/base/nearest_word.hpp"
#include "dasgd/base/units.hpp"
#include "dasgd/core/error.hpp"
#include "dasgd/data/catalogue.hpp"
#include "dasgd/data/images/idx.hpp"
#include "dasgd/models/data_source.hpp"
#include "dasgd/models/description/describe_data.hpp"
#include "dasgd/settings/settings.hpp"
#include "fetch/cifar10_fetch.hpp"
#include "terminal/output.hpp"

namespace dasgd::app {
namespace {

const KnownDataSet& known(const std::string& name) {
  std::vector<std::string> names;
  for (const KnownDataSet& set : known_data_sets()) {
    if (set.name == name) return set;
    names.push_back(set.name);
  }
  throw InputError("unknown data set \"" + name + "\"" + suggestion(name, names));
}

// Data sets come as Debian packages; root can install them right away.
void install(const KnownDataSet& set) {
  const std::string command = "apt-get install -y " + set.debian_package;
  const bool can = ::geteuid() == 0 && std::filesystem::exists("/usr/bin/apt-get");
  if (can && std::system((command + " >&2").c_str()) == 0) return;
  throw std::runtime_error("data set " + set.name + " is not installed; run: sudo " + command);
}

}  // namespace

int data_list_command() {
  for (const KnownDataSet& set : known_data_sets())
    print_result("{:<14} {}\n{:<14} for --model {}; {}\n", set.name, set.description, "",
                 set.models,
                 find_installed(set).value_or("not installed: dasgd data get " + set.name));
  print_result(
      "Any CSV, LIBSVM, .npy or .npz file, text, JSON instance, directory of idx or CIFAR-10 files "
      "or of\n"
      "pictures can be given by its path (see: dasgd data describe PATH); names are also looked up "
      "in the\ndirectory $DASGD_DATA.\n");
  return done;
}

int data_describe_command(const DescribeRequest& request) {
  SourceOptions options{.table = {.label = request.label, .exclude = request.exclude}};
  if (!request.resize.empty()) options.resize = parse_picture_size(request.resize);
  print_result_text(config::with_options(describe_data(request.data, options, request.picture)));
  return done;
}

int data_get_command(const std::string& name, const std::string& archive) {
  const KnownDataSet& set = known(name);
  if (set.name == "cifar10") {
    fetch_cifar10(set.installed_at, archive);
  } else if (!archive.empty()) {
    throw InputError("--from is for cifar10; " + set.name + " comes as a Debian package");
  } else if (!find_installed(set)) {
    install(set);
  }
  const std::string path = locate_data(set.name);
  const ImageSet images = read_images(path);
  print_result("{}: {} training and {} test images, {} classes, complete\n", path,
               show_count(images.train.count()), show_count(images.test.count()), images.classes);
  return done;
}

}  // namespace dasgd::app
