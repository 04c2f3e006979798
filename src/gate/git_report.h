// What a run's git guard found, as events and in the receipt.
#pragma once

#include <chrono>

#include "gate/git_guard.h"
#include "gate/prepare.h"
#include "sallyport/event.h"

namespace sallyport {

// When a review must be over, so that the call still ends within one and a half times the run's deadline.
[[nodiscard]] std::chrono::steady_clock::time_point review_deadline(std::chrono::steady_clock::time_point called,
                                                                    std::chrono::milliseconds wall);

// Call before a jailed run: notes what to protect in the places that the run may write, and what cannot be protected.
[[nodiscard]] Status survey_writable_places(Prepared& prepared);
void emit_doubts(EventSink* events, const Prepared& prepared);
void emit_git_review(EventSink* events, const GitReview& review);

// If the review could not finish, drops the guarantee, and fails a call that required it.
[[nodiscard]] Status judge_git_review(const Plan& plan, const GitReview& review, std::vector<Established>& established);

}  // namespace sallyport
