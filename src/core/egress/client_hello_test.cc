#include "core/egress/client_hello.h"

#include <gtest/gtest.h>

#include <rapidcheck/gtest.h>

#include <vector>

#include "core/egress/tls_opening.h"

namespace sallyport {
namespace {

using Octets = std::vector<std::uint8_t>;
using HelloKind = ClientHelloVerdict::Kind;
using RecordKind = ClientRecord::Kind;

void append_number(Octets& out, std::size_t value, unsigned bytes) {
  while (bytes-- > 0) out.push_back(static_cast<std::uint8_t>(value >> (8 * bytes)));
}

Octets with_length(const Octets& body, unsigned bytes) {
  Octets out;
  append_number(out, body.size(), bytes);
  out.insert(out.end(), body.begin(), body.end());
  return out;
}

Octets operator+(Octets a, const Octets& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

Octets octets(std::string_view text) { return {text.begin(), text.end()}; }

Octets extension(unsigned type, const Octets& body) {
  Octets out;
  append_number(out, type, 2);
  return out + with_length(body, 2);
}

Octets server_name(std::string_view name, std::uint8_t type = 0) {
  return with_length(Octets{type} + with_length(octets(name), 2), 2);
}

// The handshake message with its header.
Octets hello_message(const Octets& extensions, bool has_extensions = true) {
  Octets body{3, 3};
  body.resize(2 + 32, 0x5a);
  body = body + with_length(Octets(32, 7), 1) + with_length({0x13, 0x01, 0x13, 0x02}, 2) + with_length({0}, 1);
  if (has_extensions) body = body + with_length(extensions, 2);
  return Octets{1} + with_length(body, 3);
}

// In records of at most `size` bytes each.
Octets in_records(const Octets& message, std::size_t size = 16384, std::uint8_t type = 22) {
  Octets out;
  for (std::size_t at = 0; at < message.size(); at += size) {
    const std::size_t part = std::min(size, message.size() - at);
    out.insert(out.end(), {type, 3, 1});
    append_number(out, part, 2);
    out.insert(out.end(), message.begin() + static_cast<std::ptrdiff_t>(at),
               message.begin() + static_cast<std::ptrdiff_t>(at + part));
  }
  return out;
}

Octets ordinary_hello(std::string_view name) {
  return hello_message(extension(43, {2, 3, 4}) + extension(0, server_name(name)) + extension(51, Octets(40, 1)));
}

ClientHelloVerdict verdict_on(const Octets& bytes) { return parse_client_hello(bytes); }

// The verdict of a reader that gets one byte at a time.
ClientHelloVerdict verdict_byte_by_byte(const Octets& bytes) {
  for (std::size_t size = 0; size <= bytes.size(); ++size) {
    ClientHelloVerdict verdict = parse_client_hello(std::span(bytes).first(size));
    if (verdict.kind != HelloKind::kNeedMore && verdict.kind != HelloKind::kUnsure) return verdict;
  }
  return {};
}

TEST(ClientHello, GivesItsServerName_C24) {
  const Octets bytes = in_records(ordinary_hello("Example.COM"));
  const ClientHelloVerdict verdict = verdict_on(bytes);
  ASSERT_EQ(verdict.kind, HelloKind::kHello) << verdict.why;
  EXPECT_TRUE(verdict.has_server_name);
  EXPECT_EQ(verdict.server_name, "Example.COM") << "as sent";
  EXPECT_FALSE(verdict.encrypted_client_hello);
  EXPECT_FALSE(verdict.early_data);
  EXPECT_EQ(verdict.size, bytes.size());
  EXPECT_EQ(verdict_on(bytes + Octets{23, 3, 3, 0, 1, 0}).size, bytes.size()) << "early data may follow";
}

TEST(ClientHello, MayHaveNoServerName) {
  for (const Octets& message : {hello_message(extension(43, {2, 3, 4})), hello_message({}), hello_message({}, false)}) {
    const ClientHelloVerdict verdict = verdict_on(in_records(message));
    EXPECT_EQ(verdict.kind, HelloKind::kHello) << verdict.why;
    EXPECT_FALSE(verdict.has_server_name);
  }
}

TEST(ClientHello, IsReadBeyondTheFirstKilobyteAndAcrossRecords_C24) {
  const Octets message = hello_message(extension(21, Octets(9000, 0)) + extension(0, server_name("far.test")));
  for (const std::size_t size : {1U, 2U, 3U, 5U, 100U, 4096U, 16384U}) {
    const ClientHelloVerdict verdict = verdict_on(in_records(message, size));
    ASSERT_EQ(verdict.kind, HelloKind::kHello) << size << " " << verdict.why;
    EXPECT_EQ(verdict.server_name, "far.test");
  }
}

TEST(ClientHello, ReportsEncryptedHellosAndEarlyData_C24) {
  const Octets name = extension(0, server_name("front.test"));
  for (const unsigned type : {0xfe0dU, 0xffceU}) {
    const ClientHelloVerdict verdict = verdict_on(in_records(hello_message(name + extension(type, {1, 2, 3}))));
    ASSERT_EQ(verdict.kind, HelloKind::kHello);
    EXPECT_TRUE(verdict.encrypted_client_hello);
  }
  EXPECT_TRUE(verdict_on(in_records(hello_message(name + extension(42, {})))).early_data);
}

TEST(ClientHello, IsDistinguishedFromOtherProtocolsByItsFirstBytes) {
  for (const std::string_view text :
       {"GET / HTTP/1.1\r\n", "SSH-2.0-x", "\x15\x02\x01", "\x16\x02", "\x16\xfe\xff", "\x17\x03\x09"}) {
    EXPECT_EQ(verdict_on(octets(text)).kind, HelloKind::kNotTls) << text;
  }
  for (const Octets& few : {Octets{}, Octets{22}, Octets{21}, Octets{21, 3, 1, 0}, Octets{0x80, 9, 1}}) {
    EXPECT_EQ(verdict_on(few).kind, HelloKind::kUnsure);
  }
  EXPECT_EQ(verdict_on({22, 3}).kind, HelloKind::kNeedMore);
  EXPECT_EQ(verdict_on({0x80, 0x2e, 2}).kind, HelloKind::kNotTls);
  EXPECT_EQ(verdict_on({0xff, 0x53, 0x4d, 0x42, 0x72}).kind, HelloKind::kNotTls) << "SMB";
}

TEST(ClientHello, OfSslv2CannotBeChecked) {
  Octets hello{0x80, 9 + 6 + 16, 1, 3, 1, 0, 6, 0, 0, 0, 16};
  hello.resize(hello.size() + 22);
  const ClientHelloVerdict verdict = verdict_on(hello);
  EXPECT_EQ(verdict.kind, HelloKind::kMalformed);
  EXPECT_EQ(verdict.why, "an SSLv2 hello");
  hello[1] = 1;
  EXPECT_EQ(verdict_on(hello).kind, HelloKind::kNotTls) << "lengths that do not fit are a chance likeness";
}

TEST(ClientHello, WithALieInItIsMalformed_C24) {
  const Octets name = extension(0, server_name("a.test"));
  const auto why = [](const Octets& bytes) {
    const ClientHelloVerdict verdict = verdict_on(bytes);
    return verdict.kind == HelloKind::kMalformed ? std::string(verdict.why) : "accepted";
  };
  EXPECT_EQ(why(in_records(hello_message(name + name))), "an extension twice");
  EXPECT_EQ(why(in_records(hello_message(extension(5, {}) + name + extension(5, {})))), "an extension twice");
  const Octets entry = Octets{0} + with_length(octets("a.test"), 2);
  EXPECT_EQ(why(in_records(hello_message(extension(0, with_length(entry + entry, 2))))), "several server names");
  for (const Octets& body : {Octets{}, with_length({}, 2), server_name(""), server_name("a.test", 1),
                             server_name("a.test") + Octets{0}, Octets{0, 9, 0, 0, 9, 'a'}}) {
    EXPECT_EQ(why(in_records(hello_message(extension(0, body)))), "a malformed server name");
  }
  EXPECT_EQ(why(in_records(hello_message(name + Octets{0, 5, 0, 9}))), "a malformed extension");
  EXPECT_EQ(why(in_records(hello_message(name + Octets{0, 5, 0}))), "a malformed extension");
  Octets longer = hello_message(name);
  longer.push_back(0);
  EXPECT_EQ(why(in_records(longer)), "more than a hello in its record");
  longer[3] = static_cast<std::uint8_t>(longer[3] + 1);
  EXPECT_EQ(why(in_records(longer)), "a malformed hello") << "a byte after the extensions";
  EXPECT_EQ(why(in_records({2, 0, 0, 0})), "a handshake without a hello");
  EXPECT_EQ(why({22, 3, 1, 0, 0}), "an empty record");
  EXPECT_EQ(why({22, 3, 1, 0x40, 1}), "a record too large");
  EXPECT_EQ(why(in_records({1, 2, 0, 0})), "a hello too large");
  const Octets half = in_records(hello_message(name), 40);
  EXPECT_EQ(why(Octets(half.begin(), half.begin() + 45) + Octets{21, 3, 1}), "another record inside");
}

TEST(ClientHello, BehindAnotherRecordIsMalformed_C24) {
  const Octets hello = in_records(ordinary_hello("other.test"));
  for (const Octets& before : {Octets{21, 3, 1, 0, 2, 1, 90}, Octets{20, 3, 3, 0, 1, 1}, Octets{23, 3, 3, 0, 0},
                               Octets{24, 3, 3, 0, 1, 0}, Octets{21, 3, 0, 0, 0}}) {
    EXPECT_EQ(verdict_on(before + hello).why, "another record in front of the hello");
  }
}

TEST(ClientHello, HasACap) {
  const Octets padding(60000, 0);
  const Octets message = hello_message(extension(21, padding) + extension(0, server_name("a.test")));
  EXPECT_EQ(verdict_on(in_records(message)).kind, HelloKind::kHello);
  // In tiny records the same message needs more bytes than any honest client sends.
  const Octets many = in_records(message, 10);
  EXPECT_EQ(verdict_on(many).kind, HelloKind::kMalformed);
  const auto upto = [&](std::size_t size) { return parse_client_hello(std::span(many).first(size)).kind; };
  EXPECT_EQ(upto(kLargestClientHello - 1), HelloKind::kNeedMore);
  EXPECT_EQ(upto(kLargestClientHello + 1), HelloKind::kMalformed);
}

const Octets kChangeRecord{20, 3, 3, 0, 1, 1};
const Octets kWarningRecord{21, 3, 3, 0, 2, 1, 90};

TEST(AfterClientHello, AnotherHelloIsFoundBehindAlertsAndChangesOfCipherSpec_C24) {
  const Octets hello = in_records(ordinary_hello("other.test"));
  for (const bool chosen : {false, true}) {
    Octets bytes = kWarningRecord + hello;
    ClientRecord record = parse_after_client_hello(bytes, chosen);
    ASSERT_EQ(record.kind, RecordKind::kAside) << record.why;
    bytes.erase(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(record.size));
    record = parse_after_client_hello(bytes, chosen);
    ASSERT_EQ(record.kind, RecordKind::kHello) << record.why;
    EXPECT_EQ(record.hello.server_name, "other.test");
    EXPECT_EQ(record.size, hello.size());
  }
  EXPECT_EQ(parse_after_client_hello(kChangeRecord + hello, false).kind, RecordKind::kAside);
  for (std::size_t size = 0; size < hello.size(); ++size) {
    EXPECT_EQ(parse_after_client_hello(std::span(hello).first(size), false).kind, RecordKind::kNeedMore) << size;
  }
}

TEST(AfterClientHello, NothingSettlesItBeforeTheServerHasChosen_C24) {
  const Octets key_exchange = in_records({16, 0, 0, 1, 0});
  const Octets certificate = in_records({11, 0, 0, 3, 0, 0, 0});
  const Octets data{23, 3, 3, 0, 1, 0};
  for (const Octets& record : {key_exchange, certificate, data}) {
    EXPECT_EQ(parse_after_client_hello(record, false).kind, RecordKind::kRefused);
    EXPECT_EQ(parse_after_client_hello(record, true).kind, RecordKind::kSettled);
  }
  EXPECT_EQ(parse_after_client_hello(kChangeRecord, true).kind, RecordKind::kSettled)
      << "a resumed session goes on encrypted";
}

TEST(AfterClientHello, HowTheBytesAreCutDecidesNothing_C24) {
  for (const bool chosen : {false, true}) {
    for (int type = 0; type < 256; ++type) {
      const auto first = static_cast<std::uint8_t>(type);
      EXPECT_EQ(parse_after_client_hello(Octets{first}, chosen).kind, RecordKind::kNeedMore) << type;
      EXPECT_EQ(parse_after_client_hello(Octets{first, 2}, chosen).why, "an unknown version") << type;
    }
  }
  for (const Octets& record : {kChangeRecord, Octets{23, 3, 3, 0, 1, 0}}) {
    EXPECT_EQ(parse_after_client_hello(std::span(record).first(2), true).kind, RecordKind::kSettled) << "the control";
  }
}

TEST(AfterClientHello, WhatNobodyHasToSendIsRefused_C24) {
  const Octets hello = ordinary_hello("a.test");
  for (const bool chosen : {false, true}) {
    const auto why = [&](const Octets& bytes) { return std::string(parse_after_client_hello(bytes, chosen).why); };
    EXPECT_EQ(why({22, 3, 3, 0, 0}), "an empty record");
    EXPECT_EQ(why(in_records({0, 0, 0, 0})), "a message out of turn") << "HelloRequest";
    EXPECT_EQ(why(in_records({20, 0, 0, 0})), "a message out of turn") << "Finished";
    EXPECT_EQ(why(in_records(hello + hello)), "more than a hello in its record");
    EXPECT_EQ(why(Octets{22, 3, 3, 0, 1, 1} + kWarningRecord), "another record inside");
    EXPECT_EQ(why({24, 3, 3, 0, 1, 0}), "an unknown record") << "heartbeat";
    EXPECT_EQ(why({0x80, 0x2e, 1}), "an unknown version") << "SSLv2";
    EXPECT_EQ(why({21, 3, 3, 0, 0}), "a malformed alert");
    EXPECT_EQ(why({21, 3, 3, 0, 4}), "a malformed alert") << "two alerts";
    EXPECT_EQ(why({21, 3, 3, 0, 2, 3, 0}), "a malformed alert");
    EXPECT_EQ(why({22, 2, 0}), "an unknown version");
    EXPECT_EQ(why({'G', 'E', 'T'}), "an unknown version");
  }
  EXPECT_EQ(parse_after_client_hello(Octets{20, 3, 3, 0, 2}, false).why, "a malformed change_cipher_spec");
  EXPECT_EQ(parse_after_client_hello(Octets{20, 3, 3, 0, 1, 2}, false).why, "a malformed change_cipher_spec");
}

// A ServerHello's opening, with its message header.
Octets server_hello_message(bool retry) {
  static constexpr std::string_view kRetry =
      "\xcf\x21\xad\x74\xe5\x9a\x61\x11\xbe\x1d\x8c\x02\x1e\x65\xb8\x91"
      "\xc2\xa2\x11\x16\x7a\xbb\x8c\x5e\x07\x9e\x09\xe2\xc8\xa8\x33\x9c";
  Octets body{3, 3};
  body = body + (retry ? octets(kRetry) : Octets(32, 0x21)) + Octets{0, 0x13, 1, 0, 0, 0};
  return Octets{2} + with_length(body, 3);
}

TEST(ServerHello, IsDistinguishedFromARequestForAnotherHello_C24) {
  const Octets retry = in_records(server_hello_message(true));
  const Octets hello = in_records(server_hello_message(false));
  const auto chosen = [](const Octets& bytes, std::size_t piece) {
    ServerHelloWatch watch;
    for (std::size_t at = 0; at < bytes.size(); at += piece) {
      watch.feed(std::span(bytes).subspan(at, std::min(piece, bytes.size() - at)));
    }
    return watch.chosen();
  };
  for (const std::size_t piece : {1U, 7U, 1000U}) {
    EXPECT_FALSE(chosen(retry, piece));
    EXPECT_FALSE(chosen(retry + kChangeRecord, piece));
    EXPECT_TRUE(chosen(hello, piece));
    EXPECT_TRUE(chosen(retry + kChangeRecord + hello, piece));
    EXPECT_TRUE(chosen(Octets{21, 3, 3, 0, 2, 1, 112} + hello, piece)) << "behind a warning";
    EXPECT_TRUE(chosen(in_records(server_hello_message(false), 3), piece)) << "in small records";
    EXPECT_TRUE(chosen(in_records(server_hello_message(true) + server_hello_message(false)), piece));
  }
}

TEST(ServerHello, ThatIsNotUnderstoodIsNoChoice_C24) {
  Octets short_one = server_hello_message(false);
  short_one[3] = 20;
  for (const Octets& bytes : {octets("HTTP/1.1 400 Bad Request\r\n"), in_records(short_one), Octets{22, 3, 3, 0, 0},
                              Octets{23, 3, 3, 0, 1, 0}, in_records(Octets(40, 11)), Octets{22, 2, 0, 0, 9}}) {
    ServerHelloWatch watch;
    watch.feed(bytes);
    watch.feed(in_records(server_hello_message(false)));
    EXPECT_TRUE(watch.done());
    EXPECT_FALSE(watch.chosen());
  }
}

RC_GTEST_PROP(ClientHello, AnySplitGivesTheSameVerdict, ()) {
  const auto name = *rc::gen::container<std::string>(rc::gen::arbitrary<char>());
  Octets extensions = extension(0, server_name(name));
  if (*rc::gen::arbitrary<bool>())
    extensions = extension(0xfe0d, Octets(*rc::gen::inRange<std::size_t>(0, 40))) + extensions;
  Octets bytes = in_records(hello_message(extensions), *rc::gen::inRange<std::size_t>(1, 300));
  // Often changes one byte: then all readers must find the same fault.
  if (*rc::gen::arbitrary<bool>())
    bytes[*rc::gen::inRange<std::size_t>(0, bytes.size())] = *rc::gen::arbitrary<std::uint8_t>();
  const ClientHelloVerdict whole = verdict_on(bytes);
  const ClientHelloVerdict pieces = verdict_byte_by_byte(bytes);
  RC_CLASSIFY(whole.kind == HelloKind::kHello);
  RC_ASSERT(whole.kind == pieces.kind);
  RC_ASSERT(whole.why == pieces.why);
  RC_ASSERT(whole.server_name == pieces.server_name);
  RC_ASSERT(whole.encrypted_client_hello == pieces.encrypted_client_hello);
  RC_ASSERT(whole.size == pieces.size);
}

}  // namespace
}  // namespace sallyport
