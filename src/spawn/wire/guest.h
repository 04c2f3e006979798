// Names that the owner and process 1 of a virtual machine share (jails/microvm, helper/guest_init.cc).
#pragma once

namespace sallyport::spawn::wire {

// The names of the two shares of the jail's root that the machine may mount, and where its init mounts them.
inline constexpr const char* kViewTag = "view";
inline constexpr const char* kViewPlace = "/v";
inline constexpr const char* kWritableTag = "writable";
inline constexpr const char* kWritablePlace = "/w";

}  // namespace sallyport::spawn::wire
