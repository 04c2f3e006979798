// A run or a job of the log as an in-toto statement (Statement v1), for programs that know nothing of us.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "audit/log_directory.h"
#include "core/json/json.h"
#include "sallyport/result.h"

namespace sallyport::audit {

inline constexpr std::string_view kStatementType = "https://in-toto.io/Statement/v1";
// Our own predicates: a run's request, outcome and receipt; a job's verdict and all of its runs (docs/audit.md).
inline constexpr std::string_view kReceiptPredicate = "urn:sallyport:receipt:v1";
inline constexpr std::string_view kJobPredicate = "urn:sallyport:job:v1";
// SCAI: each guarantee is an attribute, with the record as evidence. For a job: the guarantees that held in each of its
// runs.
inline constexpr std::string_view kScaiPredicate = "https://in-toto.io/attestation/scai/v0.3";
inline constexpr std::string_view kTestResultPredicate = "https://in-toto.io/attestation/test-result/v0.1";

enum class Predicate { kReceipt, kScai, kTestResult };

// Returns the tree of a repo's commit; nullopt: the statement leaves it out.
using TreeOf = std::function<std::optional<std::string>(const std::string& repo, const std::string& commit)>;

// The statement's JSON. A run must have ended in a result: a refused call has nothing to attest. Test Result is for a
// completed job.
[[nodiscard]] Result<std::string> statement_of(const LogDirectory& directory, const std::string& wanted,
                                               Predicate predicate, const TreeOf& tree_of);

// The parts that runs and jobs share.
[[nodiscard]] Result<Json> parsed_record(const std::string& text);
[[nodiscard]] Json statement_json(Json subjects, std::string_view type, Json predicate);
// A list of one, or none: the commit that `request` names and its tree, under the name of its repo.
[[nodiscard]] Json commit_subject(const Json& request, const TreeOf& tree_of);
// The evidence for the claim: the record itself, by number and digest.
[[nodiscard]] Json evidence_of(const Json& record);
[[nodiscard]] Json reference_to(const Json& record);

// `end`: the job's own record.
[[nodiscard]] Result<Json> statement_of_job(const LogDirectory& directory, const Json& end, Predicate predicate,
                                            const TreeOf& tree_of);

}  // namespace sallyport::audit
