// The token by which a caller runs, without a jail, a tool that runs the repo's code: node, strace, npm test,
// tree-sitter. Only the caller makes one, so a search for its name finds every such place.
//
// Without it such a call is InvalidRequest("jail"). The rules: docs/contract.md, C17 and C28.
#pragma once

namespace sallyport {

// The tool gets the caller's own rights over the host. Use it only for a trusted repo, or on a disposable host.
struct AllowUnjailed {
  explicit AllowUnjailed() = default;
};

}  // namespace sallyport
