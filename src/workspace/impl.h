// An open workspace: its lock, its layers, and what the gate needs of it. The public class only forwards to this one.
#pragma once

#include <atomic>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "sallyport/jail_port.h"
#include "sallyport/plan.h"
#include "sallyport/workspace.h"
#include "workspace/merged.h"
#include "workspace/meter.h"
#include "workspace/state.h"

namespace sallyport {

class Workspace::Impl {
 public:
  [[nodiscard]] static Result<std::unique_ptr<Impl>> open(WorkspaceOptions options);
  // What open() would give, for explain only: it refuses what open() refuses, except one in use, and makes, locks and
  // removes nothing. A run refuses the result: it holds no lock, and its directory may not exist.
  [[nodiscard]] static Result<std::unique_ptr<Workspace>> foresee(WorkspaceOptions options);
  ~Impl();
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  // For the gate.
  // One call at a time.
  [[nodiscard]] Status begin_use();
  void end_use();
  // What a run in a jail of that kind mounts. Makes the copy if one is needed; an overlay gets a new work directory for
  // each run. Explain makes nothing. `run_as` is the tool's user, when it is not us (ADR 0066); that user owns the
  // layer.
  [[nodiscard]] Result<PrivateLayer> layer(LayerSupport support, Purpose purpose, const std::optional<UserIds>& run_as);
  // Call when a run has started with that layer: it fixes the workspace's mechanism.
  [[nodiscard]] Status keep(const PrivateLayer& layer);
  [[nodiscard]] workspace::LayerMeter& meter();
  [[nodiscard]] const std::filesystem::path& state_path() const { return path_; }

  [[nodiscard]] const workspace::About& about() const { return about_; }
  [[nodiscard]] workspace::MergedView view() const;
  [[nodiscard]] bool is_copy() const { return about_.mechanism == WorkspaceMechanism::kCopy; }
  [[nodiscard]] int directory() const { return held_.lock.get(); }
  [[nodiscard]] int repo_fd() const { return repo_.get(); }
  [[nodiscard]] int upper_fd() const { return upper_.get(); }
  [[nodiscard]] int copy_fd() const { return copy_.get(); }
  [[nodiscard]] Status discard();  // refused while a run uses it
  [[nodiscard]] Status remove();

 private:
  Impl() = default;
  [[nodiscard]] Status make(const WorkspaceOptions& options);
  [[nodiscard]] Status check_known(const WorkspaceOptions& options);
  [[nodiscard]] Status reopen(const WorkspaceOptions& options);
  [[nodiscard]] Status check_same_repo(const WorkspaceOptions& options) const;
  [[nodiscard]] Status open_layers();
  [[nodiscard]] Status check_overlay(Purpose purpose) const;
  [[nodiscard]] Status make_copy(const std::optional<UserIds>& owner);
  [[nodiscard]] Result<PrivateLayer> overlay_layer(Purpose purpose, const std::optional<UserIds>& run_as);
  void clear_work() const;

  workspace::Held held_{};
  std::filesystem::path path_;  // of held_, canonical
  workspace::About about_{};
  UniqueFd repo_;
  UniqueFd upper_;
  UniqueFd copy_;
  std::unique_ptr<workspace::LayerMeter> meter_;
  EventSink* events_ = nullptr;
  bool overlay_only_ = false;
  std::uint64_t next_work_ = 1;
  std::atomic<bool> in_use_{false};
};

}  // namespace sallyport
