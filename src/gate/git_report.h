// What a run's git guard found, as events and in the receipt.
#pragma once

#include <chrono>

#include "gate/git_guard.h"
#include "gate/prepare.h"
#include "sallyport/event.h"

namespace sallyport {

// By when a review must be over: it leaves the owner's deadline, one and a half times the run's, in sight.
[[nodiscard]] std::chrono::steady_clock::time_point review_deadline(std::chrono::steady_clock::time_point called,
                                                                    std::chrono::milliseconds wall);

// Before a jailed run: what must be kept from it in the places it may write, and what cannot be.
[[nodiscard]] Status look_at_writable_places(Prepared& prepared);
void emit_doubts(EventSink* events, const Prepared& prepared);
void emit_git_review(EventSink* events, const GitReview& review);

// What the review could not finish is not promised. Who insisted on it gets no result that says otherwise.
[[nodiscard]] Status judge_git_review(const Plan& plan, const GitReview& review, std::vector<Established>& established);

}  // namespace sallyport
