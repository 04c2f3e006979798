// Each line that must be found says so; everything else must not be.
#include <cstdlib>
namespace a {
int one() { return std::system("ls"); }  // expect: c-process
int two() { return ::fork(); }           // expect: c-process
int three(Thing& thing) { return thing.fork() + thing.system(); }
auto four() { return R"(system("ls"))"; }
}  // namespace a
