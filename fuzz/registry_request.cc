// Any request to the endpoint that adds the operator's credentials (C24): what goes on to the registry is one GET or HEAD below its
// path, with the credentials once, and nothing of the tool's that could change what they are used for.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "core/egress/http_requests.h"
#include "core/egress/registry_endpoint.h"
#include "fuzz/require.h"

namespace {

using sallyport::HttpRequests;

const sallyport::RegistryEndpoint& endpoint() {
  static const sallyport::RegistryEndpoint made = sallyport::registry_endpoint(
      sallyport::RegistryCredentials::of("https://registry.test/npm/", "Bearer secret+8").value());
  return made;
}

std::size_t count(std::string_view text, std::string_view word) {
  std::size_t found = 0;
  for (std::size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) ++found;
  return found;
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return out;
}

void check(const sallyport::RegistryRequest& request) {
  require(request.why.empty() == !request.head.empty());
  if (!request.why.empty()) return;
  const std::string_view head = request.head;
  require(head.starts_with(request.is_head ? "HEAD /npm/" : "GET /npm/") || head.find('%') < head.find('\r'));
  require(head.ends_with("\r\n\r\n") && head.find("\r\n\r\n") == head.size() - 4);
  const std::string_view path = head.substr(0, head.find_first_of("?\r"));
  for (const char* never : {"/../", "/./", "//", "%25", "%00", "\\", " /npm/-/whoami", " /npm/-/user"}) {
    require(lower(path).find(never) == std::string::npos);
  }
  // The host, the length and the credentials are ours alone.
  const std::string fields = lower(head.substr(head.find("\r\n")));
  for (const char* once : {"\r\nhost:", "\r\nauthorization:", "\r\nconnection:", "\r\naccept-encoding:"}) {
    require(count(fields, once) == 1);
  }
  for (const char* never : {"\r\nrange:", "\r\ncookie:", "\r\ncontent-length:", "\r\ntransfer-encoding:",
                            "\r\nupgrade:", "\r\nproxy-", "\r\nx-", "\r\nexpect:"}) {
    require(fields.find(never) == std::string::npos);
  }
  // Another reader agrees: it is one whole request, to the registry.
  HttpRequests again;
  const std::span<const std::uint8_t> sent(reinterpret_cast<const std::uint8_t*>(head.data()), head.size());
  const HttpRequests::Step step = again.next(sent);
  require(step.kind == HttpRequests::Step::Kind::kHead && step.consumed == sent.size());
  require(step.host == "registry.test" && again.between_requests());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  HttpRequests requests;
  const HttpRequests::Step step = requests.next({data, size});
  if (step.kind != HttpRequests::Step::Kind::kHead) return 0;
  check(sallyport::registry_request(requests.head(), endpoint()));
  return 0;
}
