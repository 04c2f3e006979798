#include "core/text/unified_diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace sallyport {
namespace {

constexpr std::size_t kContext = 3;
// The most lines that may differ; the trace of the search needs the square of that.
constexpr std::ptrdiff_t kMostEdits = 2000;

using Lines = std::vector<std::string_view>;

// Each line with its newline; the last may lack it.
Lines lines_of(std::string_view text) {
  Lines lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1);
    lines.push_back(text.substr(0, end + 1));
    text.remove_prefix(end + 1);
  }
  return lines;
}

enum class Edit : char { kKeep = ' ', kDelete = '-', kInsert = '+' };

// The shortest edit script between the two texts without their common ends; nullopt: too long.
class Myers {
 public:
  Myers(const Lines& before, const Lines& after) : a_(before), b_(after) {}

  std::optional<std::vector<Edit>> script() {
    const auto n = static_cast<std::ptrdiff_t>(a_.size());
    const auto m = static_cast<std::ptrdiff_t>(b_.size());
    const std::ptrdiff_t most = std::min(n + m, kMostEdits);
    std::vector<std::ptrdiff_t> furthest(static_cast<std::size_t>(2 * most + 3), 0);
    const auto at = [&](std::ptrdiff_t k) -> std::ptrdiff_t& {
      return furthest[static_cast<std::size_t>(k + most + 1)];
    };
    for (std::ptrdiff_t d = 0; d <= most; ++d) {
      // Save only the part that step d can have changed.
      trace_.emplace_back(furthest.begin() + (most + 1 - d - 1), furthest.begin() + (most + 1 + d + 2));
      for (std::ptrdiff_t k = -d; k <= d; k += 2) {
        const bool down = k == -d || (k != d && at(k - 1) < at(k + 1));
        std::ptrdiff_t x = down ? at(k + 1) : at(k - 1) + 1;
        std::ptrdiff_t y = x - k;
        while (x < n && y < m && same(x, y)) ++x, ++y;
        at(k) = x;
        if (x >= n && y >= m) return walk_back(d);
      }
    }
    return std::nullopt;
  }

 private:
  [[nodiscard]] bool same(std::ptrdiff_t x, std::ptrdiff_t y) const {
    return a_[static_cast<std::size_t>(x)] == b_[static_cast<std::size_t>(y)];
  }

  [[nodiscard]] std::vector<Edit> walk_back(std::ptrdiff_t edits) const {
    std::vector<Edit> script;
    auto x = static_cast<std::ptrdiff_t>(a_.size());
    auto y = static_cast<std::ptrdiff_t>(b_.size());
    for (std::ptrdiff_t d = edits; d >= 0; --d) {
      const auto& then = trace_[static_cast<std::size_t>(d)];
      const auto at = [&](std::ptrdiff_t k) { return then[static_cast<std::size_t>(k + d + 1)]; };
      const std::ptrdiff_t k = x - y;
      const bool down = k == -d || (k != d && at(k - 1) < at(k + 1));
      const std::ptrdiff_t from_k = down ? k + 1 : k - 1;
      const std::ptrdiff_t from_x = d == 0 ? 0 : at(from_k);
      const std::ptrdiff_t from_y = d == 0 ? 0 : from_x - from_k;
      while (x > from_x && y > from_y) {
        script.push_back(Edit::kKeep);
        --x, --y;
      }
      if (d == 0) break;
      script.push_back(down ? Edit::kInsert : Edit::kDelete);
      x = from_x;
      y = from_y;
    }
    std::ranges::reverse(script);
    return script;
  }

  const Lines& a_;
  const Lines& b_;
  std::vector<std::vector<std::ptrdiff_t>> trace_;
};

std::string range_text(std::size_t first, std::size_t count) {
  // An empty range has the number of the line before it.
  const std::size_t start = count == 0 ? first : first + 1;
  return count == 1 ? std::to_string(start) : fmt::format("{},{}", start, count);
}

class Writer {
 public:
  Writer(const Lines& before, const Lines& after, const std::vector<Edit>& script)
      : a_(before), b_(after), script_(script) {}

  std::string write() {
    std::size_t at = 0;
    while (at < script_.size()) {
      const auto next = std::find_if(script_.begin() + static_cast<std::ptrdiff_t>(at), script_.end(),
                                     [](Edit edit) { return edit != Edit::kKeep; });
      if (next == script_.end()) break;
      const auto change = static_cast<std::size_t>(next - script_.begin());
      skip(at, change > at + kContext ? change - kContext : at);
      at = std::max(at, change > kContext ? change - kContext : 0);
      at = hunk(at);
    }
    return std::move(text_);
  }

 private:
  void skip(std::size_t from, std::size_t to) {
    x_ += to - from;
    y_ += to - from;
  }

  // A hunk from `at` to where nothing changes for more than two contexts.
  std::size_t hunk(std::size_t at) {
    std::size_t end = at;
    std::size_t last = at;
    for (std::size_t i = at; i < script_.size() && i <= last + 2 * kContext; ++i) {
      if (script_[i] != Edit::kKeep) last = i;
    }
    end = std::min(last + kContext + 1, script_.size());
    std::size_t taken = 0;
    std::size_t given = 0;
    std::string body;
    for (std::size_t i = at; i < end; ++i) {
      const std::string_view line = script_[i] == Edit::kInsert ? b_[y_ + given] : a_[x_ + taken];
      taken += script_[i] == Edit::kInsert ? 0 : 1;
      given += script_[i] == Edit::kDelete ? 0 : 1;
      body += static_cast<char>(script_[i]);
      body += line;
      if (!line.ends_with('\n')) body += "\n\\ No newline at end of file\n";
    }
    text_ += fmt::format("@@ -{} +{} @@\n", range_text(x_, taken), range_text(y_, given));
    text_ += body;
    x_ += taken;
    y_ += given;
    return end;
  }

  const Lines& a_;
  const Lines& b_;
  const std::vector<Edit>& script_;
  std::size_t x_ = 0;
  std::size_t y_ = 0;
  std::string text_;
};

bool is_text(std::string_view bytes) {
  return bytes.size() <= kLargestDiffText && bytes.find('\0') == std::string_view::npos;
}

}  // namespace

std::optional<std::string> unified_hunks(std::string_view before, std::string_view after) {
  if (!is_text(before) || !is_text(after)) return std::nullopt;
  if (before == after) return std::string();
  const Lines a = lines_of(before);
  const Lines b = lines_of(after);
  // One side empty needs no search, however long the other is.
  if (a.empty() || b.empty()) {
    const std::vector<Edit> all(a.size() + b.size(), a.empty() ? Edit::kInsert : Edit::kDelete);
    return Writer(a, b, all).write();
  }
  const std::optional<std::vector<Edit>> script = Myers(a, b).script();
  if (!script) return std::nullopt;
  return Writer(a, b, *script).write();
}

}  // namespace sallyport
