// Whether this program can open networks.
#pragma once

namespace dasgd {

/// Whether there is a dasgd_networks.so where programs look for it, of whatever build.
bool networks_are_installed();

}  // namespace dasgd
