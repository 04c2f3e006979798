#include "spawn/owner/jail_supply.h"

#include <utility>
#include <variant>

namespace sallyport::spawn {
namespace {

Result<StartedRun> start_from(const std::shared_ptr<HelperClient>& helper, bool built_ahead, const LaunchSpec& spec,
                              Stdio stdio) {
  Started run = TRY(helper->submit(spec, stdio));
  return StartedRun{.run = std::move(run), .helper = helper, .built_ahead = built_ahead};
}

}  // namespace

JailSupply::JailSupply(SupplyOptions options)
    : options_(std::move(options)),
      workers_(std::make_shared<HelperClient>()),
      jails_(std::make_shared<HelperClient>(
          options_.runs == SupplyFor::kOneRun ? wire::HelperKind::kOneRun : wire::HelperKind::kInits, options_.base)),
      warm_(options_.warm_jails) {}

std::shared_ptr<HelperClient> JailSupply::jails_of(const UserIds& another) {
  std::shared_ptr<HelperClient> retired;  // destroyed without the lock
  const std::scoped_lock lock(mutex_);
  if (another_ == another) return jails_of_another_;
  const std::size_t ready = options_.runs == SupplyFor::kOneRun ? 1 : HelperClient::kIdleChildren;
  retired = std::exchange(jails_of_another_,
                          std::make_shared<HelperClient>(wire::HelperKind::kInits, options_.base, ready, another));
  another_ = another;
  return jails_of_another_;
}

Result<StartedRun> JailSupply::start(const LaunchSpec& spec, Stdio stdio) {
  if (!std::holds_alternative<JailPlace>(spec.place)) return start_from(workers_, false, spec, stdio);
  if (spec.run_as) return start_from(jails_of(*spec.run_as), false, spec, stdio);
  if (const std::shared_ptr<HelperClient> warm = warm_.client_for(spec)) return start_from(warm, true, spec, stdio);
  return start_from(jails_, false, spec, stdio);
}

Result<StartedRun> JailSupply::start_instead_of(const StartedRun& unsound, const LaunchSpec& spec, Stdio stdio) {
  warm_.drop_unsound(unsound.helper);
  return start_from(jails_, false, spec, stdio);
}

pid_t JailSupply::helper_pid_for_tests() {
  const pid_t jails = jails_->helper_pid();
  return jails != 0 ? jails : workers_->helper_pid();
}

}  // namespace sallyport::spawn
