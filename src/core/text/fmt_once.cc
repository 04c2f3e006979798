// The code of fmt that every formatted text ends in, compiled here once for the whole program (Fmt::Declared in CMakeLists.txt).
// Debian has fmt as headers and as a shared library. We link nothing shared, and as headers alone it cost every source that
// formats anything up to two seconds of its compilation.
//
// FMT_API is `weak` here: a program that links both this library and a libfmt of its own has no name twice. The instantiations
// are those that fmt 9 declares `extern`, as far as we use them; one that is missing is an undefined symbol when we link.
#include <fmt/format-inl.h>

template void fmt::detail::vformat_to(buffer<char>&, string_view, basic_format_args<buffer_context<char>>, locale_ref);
template fmt::detail::thousands_sep_result<char> fmt::detail::thousands_sep_impl<char>(locale_ref);
template char fmt::detail::decimal_point_impl<char>(locale_ref);
template fmt::detail::dragonbox::decimal_fp<float> fmt::detail::dragonbox::to_decimal<float>(float) noexcept;
template fmt::detail::dragonbox::decimal_fp<double> fmt::detail::dragonbox::to_decimal<double>(double) noexcept;
