#include <boost/asio/buffer.hpp>
#include <stdexcept>

#include "dasgd/watch/gate.hpp"
#include "dasgd/watch/http_request.hpp"
#include "fuzz/input.hpp"

// The head of a request as the server takes it apart, and what its gate decides.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace dasgd::watch;
  RequestParser parser;
  set_limits(parser);
  parser.eager(true);
  boost::beast::error_code error;
  parser.put(boost::asio::buffer(data, size), error);
  if (!parser.is_header_done()) return 0;
  const Request request = read_request(parser.get(), 9797);
  const std::string token = "secret-token";
  for (const bool required : {false, true})
    for (const bool loopback : {false, true}) {
      const Decision decision = Gate(token, required, loopback).decide(request);
      const bool knows = request.target.find(token) != std::string::npos ||
                         request.authorization.find(token) != std::string::npos ||
                         request.token_header == token;
      if (decision.resource.has_value() == decision.refusal.has_value())
        throw std::logic_error("a request is either answered or refused");
      if (decision.resource && required && !knows)
        throw std::logic_error("answered without the token");
      if (decision.resource == Resource::stop && request.token_header != token)
        throw std::logic_error("stopped without the token in its header");
    }
  return 0;
}
