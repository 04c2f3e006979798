#include "core/policy/hardening/facts.h"

namespace sallyport::hardening {

std::string_view kind_name(HardeningFact::Kind kind) {
  switch (kind) {
    case HardeningFact::Kind::kForced:
      return "forced";
    case HardeningFact::Kind::kRefused:
      return "refused";
    case HardeningFact::Kind::kNeutralised:
      break;
  }
  return "neutralised";
}

}  // namespace sallyport::hardening
