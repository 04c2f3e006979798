// The words for a workspace's enums, as JSON and the CLI use them.
#include <algorithm>

#include "sallyport/workspace.h"

namespace sallyport {

std::string_view name_of(WorkspaceMechanism mechanism) {
  switch (mechanism) {
    case WorkspaceMechanism::kAuto:
      return "auto";
    case WorkspaceMechanism::kOverlay:
      return "overlay";
    case WorkspaceMechanism::kCopy:
      return "copy";
  }
  return "auto";
}

std::string_view name_of(FileType type) {
  switch (type) {
    case FileType::kNone:
      return "none";
    case FileType::kFile:
      return "file";
    case FileType::kDirectory:
      return "directory";
    case FileType::kSymlink:
      return "symlink";
    case FileType::kFifo:
      return "fifo";
    case FileType::kSocket:
      return "socket";
    case FileType::kDevice:
      return "device";
  }
  return "none";
}

std::string_view name_of(ChangeKind kind) {
  switch (kind) {
    case ChangeKind::kDeleted:
      return "deleted";
    case ChangeKind::kCreated:
      return "created";
    case ChangeKind::kChanged:
      return "changed";
    case ChangeKind::kReplaced:
      return "replaced";
    case ChangeKind::kMetadata:
      return "metadata";
  }
  return "changed";
}

std::string_view name_of(PersistenceSeverity severity) {
  switch (severity) {
    case PersistenceSeverity::kLow:
      return "low";
    case PersistenceSeverity::kMedium:
      return "medium";
    case PersistenceSeverity::kHigh:
      return "high";
  }
  return "high";
}

std::string_view name_of(CommitAction action) {
  switch (action) {
    case CommitAction::kWritten:
      return "written";
    case CommitAction::kDeleted:
      return "deleted";
    case CommitAction::kLeftFlagged:
      return "left_flagged";
    case CommitAction::kRefused:
      return "refused";
    case CommitAction::kConflict:
      return "conflict";
  }
  return "refused";
}

bool CommitReport::has(CommitAction action) const {
  return std::ranges::any_of(steps, [action](const CommitStep& step) { return step.action == action; });
}

}  // namespace sallyport
