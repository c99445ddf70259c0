// Where other commands on this machine talk to a running member: a socket in its run directory.
#pragma once

#include <boost/asio/io_context.hpp>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <utility>  // before Asio, which forgets it

namespace dasgd::members {

/// Answers one line with one text, on the thread of the context. Only the owner of the directory
/// can open it.
class ControlSocket {
 public:
  using Answer = std::function<std::string(const std::string& line)>;
  ControlSocket(boost::asio::io_context& context, const std::filesystem::path& path, Answer answer);
  ~ControlSocket();

 private:
  class Implementation;
  std::shared_ptr<Implementation> implementation_;
};

/// Asks the member that runs in this directory. Throws InputError where none does or where it
/// refuses, std::runtime_error where it does not answer for seconds.
std::string ask_member(const std::filesystem::path& directory, const std::string& line);

}  // namespace dasgd::members
