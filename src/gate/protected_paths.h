// Checks that what the caller named read-only really is, given what the caller made writable.
#pragma once

#include <string>

#include "core/policy/make_plan.h"
#include "sallyport/jail.h"
#include "sallyport/result.h"

namespace sallyport {

// Fills in the canonical paths of --ro and --rw. Refuses
//   - a read-only path that goes through a symlink in a writable place: the run could replace the symlink, and the next
//     reader would get what the run put there;
//   - any extra path that leads out of the repo through a symlink in the repo: the repo's author would choose what is
//     shown or written;
//   - a read-only file with a second name (a hard link) on a file system that the run may write to.
[[nodiscard]] Status resolve_extras(const JailedSubprocessSpec& spec, CanonicalPaths& paths);

// The first file with a second name below a read-only directory inside a writable place, in words; empty when there is none.
// The search is bounded: if it is not finished in time, the answer says so. Such a file is not refused (package
// managers make them by the thousand), but then fs.write_confined cannot be promised.
[[nodiscard]] std::string doubtful_protection(const Plan& plan);

}  // namespace sallyport
