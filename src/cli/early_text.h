// Words compared without libc, whose string functions cannot be called before it is ready.
#pragma once

namespace sallyport::cli::early {

inline bool equal(const char* one, const char* other) {
  for (; *one == *other; ++one, ++other) {
    if (*one == '\0') return true;
  }
  return false;
}

inline bool starts_with(const char* word, const char* beginning) {
  for (; *beginning != '\0'; ++word, ++beginning) {
    if (*word != *beginning) return false;
  }
  return true;
}

// Behind the NUL.
inline const char* past_end(const char* word) {
  while (*word != '\0') ++word;
  return word + 1;
}

}  // namespace sallyport::cli::early
