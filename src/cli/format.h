// How an answer is given, whatever the verb.
#pragma once

namespace sallyport::cli {

enum class Format { kText, kJson };
enum class Verbosity { kNormal, kVerbose };

}  // namespace sallyport::cli
