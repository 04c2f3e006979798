// The jails of one gate and the order in which kAuto tries them. Knows no jail by its name.
#pragma once

#include <span>
#include <vector>

#include "sallyport/gate.h"
#include "sallyport/jail_port.h"
#include "sallyport/plan.h"
#include "sallyport/result.h"

namespace sallyport {

class JailSet {
 public:
  // Refuses two jails of one name, names that no caller could choose, and an order that names no jail of the set.
  [[nodiscard]] static Result<JailSet> of(const std::vector<Jail*>& jails, std::span<const JailKind> auto_order);

  // The jails in which a call of this kind may run, in order: one, or for kAuto several.
  [[nodiscard]] Result<std::span<Jail* const>> candidates(JailKind kind) const;
  [[nodiscard]] std::span<Jail* const> all() const { return jails_; }
  // As Gate::jails().
  [[nodiscard]] std::vector<JailOffer> offers() const;

 private:
  std::vector<Jail*> jails_;  // borrowed
  std::vector<Jail*> auto_order_;
};

}  // namespace sallyport
