#include "gate/persistence_review.h"

#include <fcntl.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "core/text/printable.h"
#include "os/openat2.h"
#include "sallyport/event_name.h"
#include "sallyport/sandboxed_path.h"
#include "workspace/merged.h"
#include "workspace/tree_walk.h"

namespace sallyport {
namespace {

constexpr ByteCount kLargestJudged = mebibytes(64);
constexpr std::size_t kMostSaid = 20;

bool is_since(const timespec& time, const timespec& start) {
  return std::tie(time.tv_sec, time.tv_nsec) >= std::tie(start.tv_sec, start.tv_nsec);
}

class Reviewer {
 public:
  Reviewer(const Plan& plan, const timespec& started, std::chrono::steady_clock::time_point deadline,
           persistence::GitPointers pointers)
      : plan_(plan), started_(started), deadline_(deadline), pointers_(pointers) {}

  PersistenceReview look() {
    Result<UniqueFd> root = open_exactly(plan_.repo, O_RDONLY | O_DIRECTORY);
    const Result<SandboxedPath> files = SandboxedPath::open_root(plan_.repo);
    if (!root || !files) return {.incomplete = root ? files.error().message : root.error().message};
    const Status walked = walk(*std::move(root));
    const auto read = [&files](const Change& change, persistence::Side side) -> std::optional<std::string> {
      if (side == persistence::Side::kBefore) return std::nullopt;  // we kept no copy
      Result<std::string> text = files->read_file(change.path, kLargestJudged);
      return text ? std::optional(*std::move(text)) : std::nullopt;
    };
    PersistenceReview review{.findings = persistence::judge(changed_, read, pointers_)};
    for (PersistenceFinding& finding : persistence::judge(suspected_, read, pointers_)) {
      if (finding.severity == PersistenceSeverity::kHigh) review.findings.push_back(std::move(finding));
    }
    if (!walked) review.incomplete = walked.error().message;
    if (late_) review.incomplete = "the repo holds too many files to look through in time";
    return review;
  }

 private:
  Status walk(UniqueFd root) {
    workspace::TreeWalk walk(std::move(root), workspace::Shut::kSkipped);
    constexpr unsigned kBetweenClocks = 256;
    for (unsigned i = 1; TRY(walk.next()); ++i) {
      if (i % kBetweenClocks == 0 && std::chrono::steady_clock::now() > deadline_) {
        late_ = true;
        return {};
      }
      note(walk);
    }
    return {};
  }

  void note(const workspace::TreeWalk& walk) {
    const struct stat& info = walk.info();
    const bool is_new = is_since(info.st_ctim, started_);
    touched_.resize(walk.depth());
    const bool below_touched = touched_.back();
    touched_.push_back(S_ISDIR(info.st_mode) && (below_touched || is_new));
    if (!is_new && !below_touched) return;
    Change change{.path = walk.path(),
                  .kind = ChangeKind::kChanged,
                  .after = workspace::type_of_mode(info.st_mode),
                  .mode_after = info.st_mode & 07777U};
    if (change.after == FileType::kSymlink) {
      std::error_code error;
      change.link_after = std::filesystem::read_symlink(plan_.repo / walk.path(), error).native();
    }
    (is_new ? changed_ : suspected_).push_back(std::move(change));
  }

  const Plan& plan_;
  const timespec& started_;
  const std::chrono::steady_clock::time_point deadline_;
  const persistence::GitPointers pointers_;
  std::vector<bool> touched_ = {false};  // every run touches the repo's own directory, so that means nothing
  std::vector<Change> changed_;
  std::vector<Change> suspected_;
  bool late_ = false;
};

}  // namespace

PersistenceWatch::PersistenceWatch(const Plan& plan) : plan_(plan) {
  ::clock_gettime(CLOCK_REALTIME_COARSE, &started_);  // the clock of the kernel's time stamps
}

PersistenceReview PersistenceWatch::review(std::chrono::steady_clock::time_point deadline,
                                           persistence::GitPointers pointers) const {
  if (plan_.repo_access != RepoAccess::kWritable || plan_.repo_layer() != nullptr) return {};
  return Reviewer(plan_, started_, deadline, pointers).look();
}

void emit_persistence(EventSink* events, const PersistenceReview& review) {
  if (events == nullptr) return;
  std::size_t said = 0;
  for (const PersistenceFinding& finding : review.findings) {
    if (finding.severity == PersistenceSeverity::kLow) continue;  // only in the record
    if (++said > kMostSaid) break;
    events->emit({.level = EventLevel::kWarning,
                  .name = event_name::kPersistenceFound,
                  .fields = {{"path", printable(finding.path)},
                             {"rule", finding.rule},
                             {"severity", std::string(name_of(finding.severity))},
                             {"reason", finding.reason}}});
  }
  const auto warn = [events](std::string reason, std::string_view hint) {
    Event event{.level = EventLevel::kWarning,
                .name = event_name::kPersistenceUnreviewed,
                .fields = {{"reason", std::move(reason)}}};
    if (!hint.empty()) event.fields.emplace_back("hint", hint);
    events->emit(event);
  };
  if (said > kMostSaid)
    warn("there are more findings than these events name", "`JailedSubprocessResult::persistence` lists it");
  if (!review.incomplete.empty()) warn(printable(review.incomplete), {});
}

}  // namespace sallyport
