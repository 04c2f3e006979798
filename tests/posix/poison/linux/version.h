#error "a header of Linux, in code that is to compile on macOS"
