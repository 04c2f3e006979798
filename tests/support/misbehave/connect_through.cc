// connect_through HOST PORT [wrong-secret]: asks the proxy of HTTPS_PROXY for a way there, then for "/" by HTTP; prints what comes. Exits
// with 1 when the proxy refuses.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>

static std::string base64(const std::string& bytes) {
  const char* const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (size_t at = 0; at < bytes.size(); at += 3) {
    unsigned group = 0;
    for (size_t i = 0; i < 3; ++i) group = group << 8 | (at + i < bytes.size() ? (unsigned char)bytes[at + i] : 0);
    for (size_t i = 0; i < 4; ++i) text += at + i <= bytes.size() ? digits[group >> (18 - 6 * i) & 63] : '=';
  }
  return text;
}

static std::string read_until(int fd, const char* end) {
  std::string text;
  for (char byte = 0; text.find(end) == std::string::npos && read(fd, &byte, 1) == 1;) text += byte;
  return text;
}

int main(int argc, char** argv) {
  const char* const proxy = getenv("HTTPS_PROXY");
  if (argc < 3 || proxy == nullptr) return 2;
  const std::string url = proxy + strlen("http://");
  const size_t at = url.find('@');
  const std::string credentials = argc > 3 ? "sallyport:0000" : url.substr(0, at);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons((unsigned short)atoi(url.substr(url.rfind(':') + 1).c_str()));
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  if (connect(fd, (const sockaddr*)&address, sizeof address) != 0) return 3;
  const std::string place = std::string(argv[1]) + ":" + argv[2];
  const std::string request = "CONNECT " + place + " HTTP/1.1\r\nHost: " + place + "\r\nProxy-Authorization: Basic " +
                              base64(credentials) + "\r\n\r\n";
  (void)!write(fd, request.data(), request.size());
  const std::string answer = read_until(fd, "\r\n\r\n");
  fputs(answer.c_str(), stdout);
  if (answer.find(" 200 ") == std::string::npos) return 1;
  const std::string get = "GET / HTTP/1.1\r\nHost: " + place + "\r\nConnection: close\r\n\r\n";
  (void)!write(fd, get.data(), get.size());
  fputs(read_until(fd, "\n.\n").c_str(), stdout);
  return 0;
}
