// What only the init of a virtual machine can measure: its kernel's count of processes that ran out of memory, and its scratch.
#include "spawn/helper/own_facts.h"
#include "spawn/helper/run.h"

namespace sallyport::spawn::helper {
bool measure_scratch(const Run& run, wire::Report& seen) {
  if (!run.has(wire::kInGuest) || seen.scratch_was_full != 0) return false;
  FileSystemUse use;
  if (!measure_use(run.guest_scratch_fd, use)) return false;
  seen.scratch_bytes = use.bytes;
  seen.scratch_files = use.files;
  const bool full = use.no_byte_left || use.no_file_left;
  seen.scratch_was_full = full ? 1 : 0;
  return full;
}

void add_guests_facts(const Run& run, const wire::Report& seen, wire::Report& report) {
  if (!run.has(wire::kInGuest)) return;
  wire::Report last = seen;
  measure_scratch(run, last);
  report.scratch_bytes = last.scratch_bytes;
  report.scratch_files = last.scratch_files;
  report.scratch_was_full = last.scratch_was_full;
  report.oom_kills = read_oom_kills(run.oom_counter_fd);
}

}  // namespace sallyport::spawn::helper
