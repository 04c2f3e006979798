#include "spawn/owner/framed_start.h"

#include <fcntl.h>

#include "os/file.h"
#include "os/memfd.h"
#include "spawn/owner/helper_run.h"

namespace sallyport::spawn {

Result<std::unique_ptr<LiveRun>> FramedStart::start(JailSupply& supply, const ToolStreams& streams) {
  const bool is_null = streams.in < 0;
  image_ = TRY(sealed_memfd("sallyport-launch", encode(inner_, {}, is_null ? StdinIs::kNullDevice : StdinIs::kGiven)));
  null_device_ = TRY(open_path("/dev/null", O_RDONLY));
  wrapper_.passed_fds = {image_.get()};
  const ToolStreams all{.in = is_null ? null_device_.get() : streams.in, .out = streams.out, .err = streams.err};
  return start_run(supply, wrapper_, all);
}

}  // namespace sallyport::spawn
