#include "core/audit/key_shapes.h"

#include <algorithm>
#include <array>

namespace sallyport::audit {
namespace {

struct Shape {
  std::string_view prefix;
  std::size_t at_least;  // characters after the prefix
};

// As their makers document them. After the prefix come characters of [A-Za-z0-9_-./+=].
constexpr auto kShapes = std::to_array<Shape>({
    {"ghp_", 20},
    {"gho_", 20},
    {"ghu_", 20},
    {"ghs_", 20},
    {"ghr_", 20},
    {"github_pat_", 20},
    {"glpat-", 16},
    {"gldt-", 16},
    {"glrt-", 16},
    {"npm_", 30},
    {"xoxb-", 10},
    {"xoxa-", 10},
    {"xoxp-", 10},
    {"xoxr-", 10},
    {"xoxs-", 10},
    {"xapp-", 10},
    {"AKIA", 16},
    {"ASIA", 16},
    {"AIza", 30},
    {"ya29.", 20},
    {"sk-", 20},
    {"sk_live_", 10},
    {"sk_test_", 10},
    {"rk_live_", 10},
    {"pk_live_", 10},
    {"SG.", 20},
    {"hf_", 20},
    {"pypi-", 20},
    {"dop_v1_", 20},
    {"dckr_pat_", 16},
    {"eyJ", 20},
    {"AGE-SECRET-KEY-", 8},
    {"PRIVATE+KEY+", 8},
    {"shpat_", 16},
    {"hvs.", 16},
    {"cio", 32},
    {"lin_api_", 16},
    {"rubygems_", 16},
    {"whsec_", 16},
    {"glsa_", 16},
    {"ABIA", 16},
    {"ACCA", 16},
    {"AROA", 16},
    {"LTAI", 16},
    {"ATATT3", 20},
    {"ATCTT3", 20},
    {"ATBB", 24},
    {"AKCp", 20},
    {"GOCSPX-", 20},
    {"1//0", 20},
    {"xoxc-", 10},
    {"xoxd-", 10},
    {"xoxe-", 10},
    {"xoxe.", 10},
    {"xoxo-", 10},
    {"xai-", 20},
    {"gsk_", 20},
    {"nvapi-", 20},
    {"r8_", 20},
    {"pplx-", 20},
    {"glptt-", 16},
    {"glft-", 16},
    {"glsoat-", 16},
    {"glcbt-", 16},
    {"glimt-", 16},
    {"glagent-", 16},
    {"gloas-", 16},
    {"glffct-", 16},
    {"sk_", 24},
    {"rk_test_", 10},
    {"pk_test_", 10},
    {"sq0atp-", 16},
    {"sq0csp-", 16},
    {"shpss_", 16},
    {"shpca_", 16},
    {"shppa_", 16},
    {"dp.pt.", 20},
    {"dp.st.", 20},
    {"hvb.", 16},
    {"hvr.", 16},
    {"doo_v1_", 20},
    {"dor_v1_", 20},
    {"dckr_oat_", 16},
    {"PMAK-", 20},
    {"NRAK-", 20},
    {"pul-", 32},
    {"sntrys_", 20},
    {"sntryu_", 20},
    {"fo1_", 20},
    {"fm2_", 20},
    {"nfp_", 20},
    {"ops_", 30},
    {"figd_", 20},
    {"ntn_", 20},
    {"phx_", 20},
    {"lsv2_pt_", 20},
    {"sbp_", 20},
    {"bkua_", 20},
    {"CCIPAT_", 20},
    {"tskey-", 16},
    {"oy2", 40},
    {"rzp_live_", 10},
    {"secret_", 32},
    {"hooks.slack.com/services/", 20},
    {"discord.com/api/webhooks/", 20},
    {"discordapp.com/api/webhooks/", 20},
});
constexpr auto kSchemes = std::to_array<std::string_view>({"bearer ", "basic ", "token ", "digest ", "negotiate "});
constexpr std::string_view kPemBegin = "-----BEGIN ";
constexpr std::string_view kPemPrivate = "PRIVATE KEY";

bool is_key_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
         c == '.' || c == '/' || c == '+' || c == '=' || c == '~';
}

std::size_t run_of_key(std::string_view text) {
  std::size_t length = 0;
  while (length < text.size() && is_key_char(text[length])) ++length;
  return length;
}

bool same_ignoring_case(std::string_view text, std::string_view lower) {
  return text.size() == lower.size() && std::ranges::equal(text, lower, [](char a, char b) {
           return (a >= 'A' && a <= 'Z' ? static_cast<char>(a - 'A' + 'a') : a) == b;
         });
}

// "Bearer x": keeps the word, redacts the value. A sentence ("a basic test") has no such value: keys are longer.
std::size_t scheme_length(std::string_view text) {
  constexpr std::size_t kShortestValue = 12;
  for (const std::string_view scheme : kSchemes) {
    if (!same_ignoring_case(text.substr(0, scheme.size()), scheme)) continue;
    const std::size_t value = run_of_key(text.substr(scheme.size()));
    if (value >= kShortestValue) return scheme.size() + value;
  }
  return 0;
}

std::size_t pem_length(std::string_view text) {
  if (!text.starts_with(kPemBegin)) return 0;
  const std::string_view first = text.substr(0, std::min<std::size_t>(text.size(), 64));
  if (first.find(kPemPrivate) == std::string_view::npos) return 0;
  const std::size_t end = text.find("-----END ");
  return end == std::string_view::npos ? text.size() : end;
}

}  // namespace

std::size_t key_shape_at(std::string_view text, std::size_t at) {
  if (!is_key_char(text[at])) return 0;
  const bool inside_word = at > 0 && is_key_char(text[at - 1]) && text[at - 1] != '=' && text[at - 1] != '/' &&
                           text[at - 1] != '.' && text[at - 1] != '-';
  // "%3Dghp_…": the escape is not part of the word.
  const bool escaped = at >= 3 && text[at - 3] == '%';
  if (inside_word && !escaped) return 0;
  const std::string_view rest = text.substr(at);
  if (const std::size_t pem = pem_length(rest); pem != 0) return pem;
  if (const std::size_t scheme = scheme_length(rest); scheme != 0) return scheme;
  for (const Shape& shape : kShapes) {
    if (!rest.starts_with(shape.prefix)) continue;
    const std::size_t length = run_of_key(rest);
    if (length >= shape.prefix.size() + shape.at_least) return length;
  }
  return 0;
}

}  // namespace sallyport::audit
