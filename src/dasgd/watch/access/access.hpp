// Settings of who may watch: addresses and tokens.
#pragma once

#include <string>

namespace dasgd::watch {

/// A token that nobody can guess.
std::string draw_token();
/// Throws InputError unless the text can be a token: 16 or more letters, digits, - and _.
void require_token_form(const std::string& token);
/// Whether the text is an IP address of this machine alone. Throws InputError for what is not an IP
/// address.
bool is_loopback(const std::string& address);

}  // namespace dasgd::watch
