// Stands for a dasgd_networks.so, and for a library of rivals, that were built from other headers
// than the program.
extern "C" __attribute__((visibility("default"))) const char* dasgd_network_module_build() {
  return "0.0.1 of long ago";
}
extern "C" __attribute__((visibility("default"))) void* dasgd_make_network() { return nullptr; }
extern "C" __attribute__((visibility("default"))) const char* dasgd_rival_library_build() {
  return "0.0.1 of long ago";
}
extern "C" __attribute__((visibility("default"))) void dasgd_rivals() {}
