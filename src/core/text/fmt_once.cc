// The part of fmt that every formatted text uses, compiled here once for the whole program (Fmt::Declared in
// CMakeLists.txt). Debian has fmt as headers and as a shared library. We link no shared library, and the headers alone
// cost every source that formats text up to two seconds of compile time.
//
// FMT_API is `weak` here: a program that links both this library and its own libfmt gets no duplicate symbols. The
// instantiations are those that fmt 9 declares `extern` and that we use; a missing one is an undefined symbol at link
// time.
#include <fmt/format-inl.h>

template void fmt::detail::vformat_to(buffer<char>&, string_view, basic_format_args<buffer_context<char>>, locale_ref);
template fmt::detail::thousands_sep_result<char> fmt::detail::thousands_sep_impl<char>(locale_ref);
template char fmt::detail::decimal_point_impl<char>(locale_ref);
template fmt::detail::dragonbox::decimal_fp<float> fmt::detail::dragonbox::to_decimal<float>(float) noexcept;
template fmt::detail::dragonbox::decimal_fp<double> fmt::detail::dragonbox::to_decimal<double>(double) noexcept;
