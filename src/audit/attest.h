// A run of the log as an in-toto statement (Statement v1), for programs that know nothing of us.
#pragma once

#include <string>
#include <string_view>

#include "audit/log_directory.h"
#include "sallyport/result.h"

namespace sallyport::audit {

inline constexpr std::string_view kStatementType = "https://in-toto.io/Statement/v1";
// Our own predicate: the record's request, outcome and receipt (docs/audit.md).
inline constexpr std::string_view kReceiptPredicate = "urn:sallyport:receipt:v1";
// SCAI: each guarantee an attribute, with the receipt's record as evidence.
inline constexpr std::string_view kScaiPredicate = "https://in-toto.io/attestation/scai/v0.3";

enum class Predicate { kReceipt, kScai };

// The statement's JSON. The run must have ended in a result: what was refused has nothing to attest.
[[nodiscard]] Result<std::string> statement_of_run(const LogDirectory& directory, const std::string& wanted,
                                                   Predicate predicate);

}  // namespace sallyport::audit
