#include "sallyport/adapters.h"

#include <utility>

namespace sallyport {

Result<JailedSubprocessResult> AutoJail::run(const JailedSubprocessSpec& spec, std::stop_token stop) {
  return gate_.run(spec, JailKind::kAuto, std::move(stop));
}

Result<JailedSubprocessResult> NativeAdapter::run(const JailedSubprocessSpec& spec, std::stop_token stop) {
  return gate_.run(spec, JailKind::kNative, std::move(stop));
}

Result<JailedSubprocessResult> BwrapAdapter::run(const JailedSubprocessSpec& spec, std::stop_token stop) {
  return gate_.run(spec, JailKind::kBwrap, std::move(stop));
}

}  // namespace sallyport
