#include "dasgd/members/control_socket.hpp"

#include <boost/asio.hpp>
#include <cerrno>
#include <chrono>
#include <fcntl.h>
#include <fmt/format.h>
#include <stdexcept>
#include <sys/stat.h>
#include <unistd.h>

#include "dasgd/base/one_line.hpp"
#include "dasgd/core/error.hpp"

namespace dasgd::members {
namespace {

namespace asio = boost::asio;
using Local = asio::local::stream_protocol;

/// Socket names hold about 100 bytes, directories may be longer: the way leads over a descriptor.
class ShortPath {
 public:
  explicit ShortPath(const std::filesystem::path& path)
      : directory_(::open(path.parent_path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)),
        path_(fmt::format("/proc/self/fd/{}/{}", directory_, path.filename().string())) {}
  ~ShortPath() {
    if (directory_ >= 0) ::close(directory_);
  }
  ShortPath(const ShortPath&) = delete;
  ShortPath& operator=(const ShortPath&) = delete;
  const std::string& text() const { return path_; }
  /// The directory is there and this user may not look into it.
  bool is_closed() const { return is_closed_; }

 private:
  const int directory_;
  const bool is_closed_ = directory_ < 0 && errno == EACCES;
  const std::string path_;
};

constexpr std::size_t longest_line = 4096;
constexpr std::chrono::seconds longest_wait{5};  // for a process that may have been stopped

}  // namespace

class ControlSocket::Implementation : public std::enable_shared_from_this<Implementation> {
 public:
  Implementation(asio::io_context& context, std::filesystem::path path, Answer answer)
      : path_(std::move(path)), answer_(std::move(answer)), acceptor_(context), again_(context) {}

  void open() {
    std::filesystem::remove(path_);
    const ShortPath way(path_);
    boost::system::error_code error;
    acceptor_.open(Local(), error);
    if (!error) acceptor_.bind(Local::endpoint(way.text()), error);
    // Before it listens, so that nobody else can have come.
    if (!error && ::chmod(way.text().c_str(), 0600) != 0)
      error.assign(errno, boost::system::system_category());
    if (!error) acceptor_.listen(16, error);
    if (error)
      throw InputError(fmt::format("{}: cannot listen: {}", path_.string(), error.message()));
    accept();
  }
  void close() {
    boost::system::error_code ignored;
    acceptor_.close(ignored);
    again_.cancel();
    std::error_code gone;
    std::filesystem::remove(path_, gone);
  }

 private:
  struct ControlClient {
    explicit ControlClient(Local::socket s) : socket(std::move(s)) {}
    Local::socket socket;
    std::string text;
  };

  void accept() {
    acceptor_.async_accept(
        [self = shared_from_this()](const boost::system::error_code& error, Local::socket socket) {
          if (error == asio::error::operation_aborted) return;
          if (error) return self->accept_later();  // out of descriptors, perhaps
          self->serve(std::make_shared<ControlClient>(std::move(socket)));
          self->accept();
        });
  }
  void accept_later() {
    again_.expires_after(std::chrono::milliseconds(100));
    again_.async_wait([self = shared_from_this()](const boost::system::error_code& error) {
      if (!error && self->acceptor_.is_open()) self->accept();
    });
  }
  void serve(std::shared_ptr<ControlClient> visitor) {
    auto& text = visitor->text;
    asio::async_read_until(visitor->socket, asio::dynamic_buffer(text, longest_line), '\n',
                           [self = shared_from_this(), visitor](
                               const boost::system::error_code& error, std::size_t n) {
                             if (error) return;
                             visitor->text = self->answer_(visitor->text.substr(0, n - 1)) + "\n";
                             asio::async_write(
                                 visitor->socket, asio::buffer(visitor->text),
                                 [visitor](const boost::system::error_code&, std::size_t) {});
                           });
  }

  const std::filesystem::path path_;
  const Answer answer_;
  Local::acceptor acceptor_;
  asio::steady_timer again_;
};

ControlSocket::ControlSocket(asio::io_context& context, const std::filesystem::path& path,
                             Answer answer)
    : implementation_(std::make_shared<Implementation>(context, path, std::move(answer))) {
  implementation_->open();
}
ControlSocket::~ControlSocket() { implementation_->close(); }

std::string ask_member(const std::filesystem::path& directory, const std::string& line) {
  const std::string question = line + "\n";
  std::string text;
  asio::io_context context;
  Local::socket socket(context);
  const ShortPath way(directory / "control");
  boost::system::error_code error;
  socket.open(Local(), error);
  if (!error) socket.non_blocking(true, error);  // nobody may have taken those who came before
  if (!error) socket.connect(Local::endpoint(way.text()), error);
  if (error == asio::error::access_denied || way.is_closed())
    throw InputError(
        fmt::format("{}: a member may be running here, but you may not access it; run the command "
                    "as the user who started it",
                    directory.string()));
  if (error)
    throw InputError(
        fmt::format("no member of an elastic run is running in {}", directory.string()));
  asio::async_write(socket, asio::buffer(question),
                    [&](const boost::system::error_code& unsent, std::size_t) {
                      if (!unsent)
                        asio::async_read(socket, asio::dynamic_buffer(text),
                                         [](const boost::system::error_code&, std::size_t) {});
                    });
  context.run_for(longest_wait);
  if (!text.ends_with('\n'))
    throw std::runtime_error(one_line(directory.string()) + ": the member does not answer");
  while (text.ends_with('\n')) text.pop_back();
  if (text.starts_with("error: ")) throw InputError(text.substr(7));
  return text;
}

}  // namespace dasgd::members
