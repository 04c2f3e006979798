// Whether what the caller named read-only really is, beside what it made writable.
#pragma once

#include <string>

#include "core/policy/make_plan.h"
#include "sallyport/jail.h"
#include "sallyport/result.h"

namespace sallyport {

// Fills in the canonical paths of --ro and --rw. Refuses
//   - a read-only path that is reached by a symlink in a writable place: the run could replace the symlink, and the next
//     reader would get what it put there;
//   - any extra path that leads out of the repo by a symlink of the repo's: its author would choose what is shown or written;
//   - a read-only file with a second name (a hard link) on a file system that the run may write to.
[[nodiscard]] Status resolve_extras(const JailedSubprocessSpec& spec, CanonicalPaths& paths);

// The first file with a second name below a read-only directory inside a writable place, in words; empty when there is none.
// A bounded search: when it does not end, that is the answer. Such a file is not refused (package managers make them by the
// thousand), but fs.write_confined cannot be promised then.
[[nodiscard]] std::string doubtful_protection(const Plan& plan);

}  // namespace sallyport
