// Leaving behind what git would execute later, outside.
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>

#include "attack/program/attack.h"

namespace sallyport::attacks {
namespace {

constexpr std::string_view kHook = "#!/bin/sh\necho was here\n";
constexpr std::string_view kConfig = "[core]\n\tfsmonitor = ./evil.sh\n";

std::string in_repo(std::string_view path) { return arg("repo") + "/" + std::string(path); }

void make_directories(const std::string& path) {
  for (std::size_t at = path.find('/', 1); at != std::string::npos; at = path.find('/', at + 1)) {
    mkdir(path.substr(0, at).c_str(), 0755);
  }
}

bool leave(const std::string& path, std::string_view content) {
  make_directories(path);
  return put(path, content);
}

void leave_hook() {
  if (leave(arg("victim"), kHook)) chmod(arg("victim").c_str(), 0755);
}
void leave_config() { leave(arg("victim"), kConfig); }

void append_config() {
  const int fd = open(arg("victim").c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  if (fd >= 0 && write(fd, kConfig.data(), kConfig.size()) < 0) close(fd);
}

void rename_over() {
  const std::string mine = arg("victim") + ".lock";
  if (put(mine, kConfig)) rename(mine.c_str(), arg("victim").c_str());
}

void write_by_alias() {
  if (!put(std::string(kRepoInside) + "/.git/config", kConfig)) append_config();
}

void rename_away(const std::string& path) { rename(path.c_str(), (path + "-away").c_str()); }

void make_git_directory(const std::string& path) {
  make_directories(path + "/objects/");
  make_directories(path + "/refs/");
  put(path + "/HEAD", "ref: refs/heads/main\n");
}

void new_repo_hook() {
  make_git_directory(in_repo("new/.git"));
  leave_hook();
}

void hidden_repo() {
  new_repo_hook();
  chmod(in_repo("new/.git/hooks").c_str(), 0311);
  chmod(in_repo("new").c_str(), 0311);
}

void pointer_to_shipped() { leave(arg("victim"), "gitdir: ../shipped/evil\n"); }

void link_to_shipped(const char* place, const char* text) {
  make_directories(in_repo(place));
  if (symlink(text, in_repo(place).c_str()) != 0) return;
  put(in_repo("shipped/evil/HEAD"), "ref: refs/heads/main\n");
}

void shipped_moved() {
  mkdir(in_repo("new").c_str(), 0755);
  rename(in_repo("shipped/evil").c_str(), in_repo("new/.git").c_str());
}

constexpr auto kDeeds = std::to_array<Entry>({
    Entry{"git_hook_planted", leave_hook},
    Entry{"git_hooks_renamed",
          [] {
            rename_away(in_repo(".git/hooks"));
            leave_hook();
          }},
    Entry{"git_config_appended", append_config},
    Entry{"git_config_renamed_over", rename_over},
    Entry{"git_config_by_alias", write_by_alias},
    Entry{"git_directory_renamed",
          [] {
            rename_away(in_repo(".git"));
            leave_config();
          }},
    Entry{"git_config_worktree", leave_config},
    Entry{"git_attributes", [] { leave(arg("victim"), "* filter=x\n"); }},
    Entry{"git_commondir", [] { leave(arg("victim"), "../shipped/evil\n"); }},
    Entry{"git_submodule_config", leave_config},
    Entry{"git_submodule_hook", leave_hook},
    Entry{"git_submodule_symlink", [] { link_to_shipped(".git/modules/new", "../../shipped/evil"); }},
    Entry{"git_worktree_commondir", [] { put(arg("victim"), "../../../shipped/evil\n"); }},
    Entry{"git_worktree_config", leave_config},
    Entry{"git_file_retargeted",
          [] {
            unlink(arg("victim").c_str());
            put(arg("victim"), "gitdir: ../shipped/evil\n");
          }},
    Entry{"git_nested_config",
          [] {
            rename_away(in_repo("nested"));
            leave_config();
          }},
    Entry{"git_new_repo_hook", new_repo_hook},
    Entry{"git_new_repo_config",
          [] {
            make_git_directory(in_repo("new/.git"));
            leave_config();
          }},
    Entry{"git_bare_repo",
          [] {
            make_git_directory(in_repo("new"));
            leave_config();
          }},
    Entry{"git_hidden_repo", hidden_repo},
    Entry{"git_pointer_to_shipped", pointer_to_shipped},
    Entry{"git_symlink_to_shipped", [] { link_to_shipped("new/.git", "../shipped/evil"); }},
    Entry{"git_shipped_moved", shipped_moved},
    Entry{"git_hooks_path", leave_hook},
    Entry{"git_included_config", append_config},
    Entry{"git_filter_program", append_config},
    Entry{"git_below_rw", append_config},
});

}  // namespace

std::span<const Entry> git_deeds() { return kDeeds; }

}  // namespace sallyport::attacks
