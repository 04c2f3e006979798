#include "core/persistence/table.h"

#include <algorithm>
#include <array>
#include <vector>

namespace sallyport::persistence {
namespace {

using enum PersistenceSeverity;
using enum Where;

constexpr std::string_view kByGit = "git runs it with its next command";
constexpr std::string_view kLeadsGit = "git obeys it, and reads other files because of it";
constexpr std::string_view kManager = "runs with the next commit, by a manager of git hooks";
constexpr std::string_view kByVcs = "another version control system obeys it, hooks and aliases included";
constexpr std::string_view kByCi = "the CI service runs it with its own secrets";
constexpr std::string_view kByEditor = "an editor runs it, or what it names, when the folder is opened";
constexpr std::string_view kByAgent = "a coding agent obeys it";
constexpr std::string_view kByShell = "a shell runs it when it starts";
constexpr std::string_view kByLogin = "the desktop or the service manager starts it";
constexpr std::string_view kByDirenv = "runs when somebody changes into the directory";
constexpr std::string_view kVersions = "names the programs that a version manager puts into PATH";
constexpr std::string_view kVariables = "programs take variables from it";
constexpr std::string_view kByBuild = "runs with the project's build";
constexpr std::string_view kByTest = "runs with the project's tests";
constexpr std::string_view kByManager = "names registries, programs or files that a package manager obeys";
constexpr std::string_view kByPython = "python runs it when it starts";
constexpr std::string_view kByInterpreter = "an interpreter or a debugger runs it when it starts";
constexpr std::string_view kContainer = "runs when its image is built or its containers are started";
constexpr std::string_view kByDeploy = "names commands that a deployment runs";
constexpr std::string_view kAsCode = "a tool of the project loads it as code, or the code that it names";
constexpr std::string_view kLock = "decides what a package manager will fetch and run";

// Rows that differ in nothing but their text.
struct Group {
  std::string_view rule;
  PersistenceSeverity severity;
  Where where;
  std::string_view reason;
  std::string_view texts;  // blanks between them
};

constexpr auto kGroups = std::to_array<Group>({
    {"git-hook", kHigh, kBelow, kByGit, ".git/hooks .githooks .git-hooks"},
    {kGitPointer, kHigh, kName, kLeadsGit, "commondir gitdir alternates attributes"},
    {kGitPointer, kHigh, kName, kByGit, "git-rebase-todo"},
    {kGitPointer, kHigh, kBelow, kByGit, ".git/sequencer"},
    {kGitPointer, kMedium, kName, "names where git fetches submodules from, and how", ".gitmodules"},
    {kGitPointer, kMedium, kName, "names where git-lfs fetches from and sends credentials to", ".lfsconfig"},
    {kGitPointer, kLow, kName, "names filters and drivers that git's configuration may define", ".gitattributes"},
    {"vcs", kHigh, kBelow, kByVcs, ".hg .jj .sl .svn .bzr"},
    {"vcs", kHigh, kName, kByVcs, ".hgrc .hgsub"},
    {"hook-manager", kHigh, kBelow, kManager, ".husky .lefthook .lefthook-local .overcommit .captainhook"},
    {"hook-manager", kHigh, kName, kManager,
     ".pre-commit-config.yaml .pre-commit-config.yml .pre-commit-hooks.yaml prek.toml hk.pkl .husky.js .overcommit.yml "
     ".yorkierc captainhook.json grumphp.yml grumphp.yml.dist .rusty-hook.toml rusty-hook.toml .cargo-husky"},
    {"hook-manager", kHigh, kStart, kManager,
     "lefthook. .lefthook. lefthook-local. .lefthook-local. .lintstagedrc .huskyrc simple-git-hooks. "
     ".simple-git-hooks."},
    {"ci", kMedium, kBelow, kByCi,
     ".github/workflows .github/actions .github/hooks .gitea/workflows .gitea/actions .forgejo/workflows "
     ".forgejo/actions .gitlab .circleci .buildkite .woodpecker .semaphore .tekton .harness .teamcity .builds "
     ".azure-pipelines .azuredevops .pipelines zuul.d .zuul.d .concourse"},
    {"ci", kMedium, kName, kByCi,
     ".travis.yml .cirrus.yml .cirrus.star azure-pipelines.yml azure-pipelines.yaml bitbucket-pipelines.yml "
     "appveyor.yml .appveyor.yml buildspec.yml buildspec.yaml bitrise.yml codemagic.yaml wercker.yml screwdriver.yaml "
     ".zuul.yaml zuul.yaml .build.yml .scrutinizer.yml action.yml action.yaml renovate.json renovate.json5 .renovaterc "
     ".renovaterc.json .readthedocs.yaml .readthedocs.yml dependabot.yml dependabot.yaml"},
    {"ci", kMedium, kStart, kByCi, "jenkinsfile .gitlab-ci .drone. .woodpecker. cloudbuild."},
    {"ci", kMedium, kEnding, kByCi, ".jenkinsfile .gitlab-ci.yml"},
    {"editor", kHigh, kBelow, kByEditor,
     ".vscode .idea .fleet .zed .devcontainer .run .vs .settings .externaltoolbuilders .helix .vim .nvim .emacs.d "
     ".nova "
     ".theia .lapce .nlsp-settings .idx .codesandbox .kak"},
    {"editor", kHigh, kName, kByEditor,
     ".devcontainer.json .exrc _exrc .vimrc _vimrc .lvimrc .local.vimrc .nvimrc .nvim.lua .exrc.lua .nvimrc.lua "
     ".gvimrc "
     ".emacs .dir-locals.el .dir-locals-2.el .project .classpath .ycm_extra_conf.py coc-settings.json .vimspector.json "
     ".neoconf.json .lazy.lua .kakrc .replit replit.nix .gitpod.yml .stackblitzrc .clangd"},
    {"editor", kHigh, kEnding, kByEditor,
     ".code-workspace .sublime-project .sublime-workspace .sublime-build .iml .ipr .iws"},
    {"agent", kHigh, kBelow, kByAgent,
     ".claude .claude-plugin .cursor .codex .gemini .continue .windsurf .roo .clinerules .cline .amazonq .kiro .trae "
     ".junie "
     ".augment .goose .opencode .crush .qwen .agent .agents .kilocode .codeium .cody .sourcegraph .tabnine .factory "
     ".devin "
     ".openhands .zencoder .serena .mcp .copilot .warp .amp .aider .github/instructions .github/prompts "
     ".github/chatmodes "
     ".github/agents .github/copilot .github/skills"},
    {"agent", kHigh, kName, kByAgent,
     ".mcp.json mcp.json .mcp.toml agents.md agent.md agents.override.md agents.local.md claude.md claude.local.md "
     "gemini.md qwen.md warp.md amp.md crush.md opencode.md replit.md skill.md copilot-instructions.md "
     ".goosehints .augment-guidelines .roomodes .kilocodemodes .rules .continuerules opencode.json opencode.jsonc "
     "crush.json .crush.json"},
    {"agent", kHigh, kStart, kByAgent, ".aider .clinerules .cursorrules .windsurfrules .roorules .kilocoderules"},
    {"agent", kHigh, kEnding, kByAgent, ".instructions.md .prompt.md .chatmode.md .agent.md"},
    {"shell", kHigh, kName, kByShell,
     ".bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile .zshrc .zshenv .zprofile .zlogin .zlogout "
     ".kshrc .mkshrc .cshrc .tcshrc .login .logout .inputrc .xprofile .xinitrc .xsession .screenrc .tmux.conf "
     "config.fish"},
    {"shell", kHigh, kBelow, kByShell, ".bashrc.d .config/fish .oh-my-zsh .zsh"},
    {"shell", kHigh, kBelow, kByLogin, ".config/autostart .config/systemd .config/environment.d .ssh .local/bin"},
    {"shell", kMedium, kEnding, kByLogin, ".desktop"},
    {"direnv", kHigh, kName, kByDirenv, ".envrc .envrc.local .autoenv .autoenv.zsh .ondir .rtx.toml devbox.json"},
    {"direnv", kHigh, kBelow, kByDirenv, ".mise .config/mise .shadowenv.d .devbox .direnv .ddev"},
    {"direnv", kHigh, kStart, kByDirenv, ".mise. mise. .lando."},
    {"direnv", kMedium, kName, kVersions,
     ".tool-versions .nvmrc .node-version .python-version .ruby-version .java-version .go-version .terraform-version "
     ".sdkmanrc .bazelversion rust-toolchain rust-toolchain.toml global.json"},
    {"direnv", kMedium, kName, kVariables, ".env .flaskenv"},
    {"direnv", kMedium, kStart, kVariables, ".env."},
    {"package-manager", kHigh, kName, kByManager,
     ".npmrc .yarnrc .yarnrc.yml .yarnrc.yaml .pnpmrc .pnpmfile.cjs .pnpmfile.mjs .pnpmfile.js pnpmfile.js "
     "pnpmfile.cjs "
     "pnpm-workspace.yaml .npm-extension.mjs .npm-extension.cjs bunfig.toml .bunfig.toml .pnp.cjs .pnp.js "
     ".pnp.loader.mjs pip.conf pip.ini .pip.conf .pypirc uv.toml poetry.toml pdm.toml .pdm.toml hatch.toml .condarc "
     "nuget.config dotnet-tools.json .gemrc .netrc _netrc"},
    {"package-manager", kHigh, kBelow, kByManager,
     ".cargo .yarn .bundle .mvn .pip .m2 .gradle .nuget .composer .pub-cache .pixi"},
    {"package-manager", kMedium, kName, kLock,
     "requirements.in constraints.txt pipfile environment.yml environment.yaml pixi.toml composer.json cargo.toml "
     "go.mod go.work pubspec.yaml brewfile "
     "podfile cartfile vcpkg.json vcpkg-configuration.json conanfile.txt deno.json deno.jsonc jsr.json bower.json "
     ".bowerrc lerna.json rush.json package.yaml package.json5"},
    {"package-manager", kMedium, kStart, kLock, "requirements- requirements_"},
    {"package-manager", kMedium, kEnding, kLock, "requirements.txt -requirements.in"},
    {"lockfile", kLow, kName, kLock,
     "yarn.lock pnpm-lock.yaml bun.lockb bun.lock deno.lock poetry.lock uv.lock pdm.lock pipfile.lock pixi.lock "
     "cargo.lock "
     "gemfile.lock composer.lock go.sum go.work.sum packages.lock.json podfile.lock pubspec.lock flake.lock mix.lock "
     "module.bazel.lock .terraform.lock.hcl package-lock.yaml pylock.toml conda-lock.yml"},
    {"build", kMedium, kName, kByBuild,
     "makefile gnumakefile bsdmakefile kbuild cmakelists.txt cmakepresets.json cmakeuserpresets.json build.ninja "
     "justfile "
     ".justfile taskfile.yml taskfile.yaml taskfile.dist.yml taskfile.dist.yaml rakefile gemfile gems.rb build.rs "
     "setup.py "
     "setup.cfg pyproject.toml gradle.properties gradlew gradlew.bat mvnw mvnw.cmd pom.xml build.xml build.sbt "
     "build.sc "
     "build.mill .jvmopts .sbtopts meson.build meson_options.txt meson.options configure.ac configure.in configure "
     "configure.py autogen.sh bootstrap.sh acinclude.m4 aclocal.m4 build.zig build.zig.zon sconstruct sconscript "
     "wscript "
     "waf fabfile.py tasks.py dodo.py pavement.py conanfile.py xmake.lua premake5.lua jamfile jamroot build "
     "build.bazel "
     "workspace workspace.bazel workspace.bzlmod module.bazel buck .buckconfig .bazelrc pants.toml .plzconfig dune "
     "dune-project dune-workspace rebar.config mix.exs setup.hs setup.lhs stack.yaml cabal.project hie.yaml "
     "makefile.pl "
     "build.pl magefile.go package.swift directory.build.props directory.build.targets directory.packages.props "
     "directory.solution.props guardfile vagrantfile capfile dangerfile fastfile thorfile berksfile puppetfile "
     "cheffile "
     "tiltfile earthfile dagger.json turbo.json nx.json project.json angular.json .angular-cli.json moon.yml "
     "workspace.json "
     "jakefile cakefile .air.toml nim.cfg config.nims pkgbuild"},
    {"build", kMedium, kName, "npm builds and runs it when the package is installed", "binding.gyp"},
    {"build", kMedium, kBelow, kByBuild, "gradle/wrapper buildsrc .moon fastlane tools/bazel debian/rules"},
    {"build", kMedium, kStart, kByBuild, "makefile."},
    {"build", kMedium, kEnding, kByBuild,
     ".mk .mak .make .cmake .gradle .gradle.kts .sbt .bzl .ninja .gemspec .cabal .csproj .fsproj .vbproj .vcxproj .sln "
     ".props .targets .nix .gyp .gypi .podspec .nimble .rake .just .pbxproj .xcscheme"},
    {"test", kMedium, kName, kByTest,
     "conftest.py tox.ini noxfile.py pytest.ini .pytest.ini phpunit.xml phpunit.xml.dist .rspec .coveragerc .proverc "
     "spec_helper.rb test_helper.rb"},
    {"python", kHigh, kName, kByPython, "sitecustomize.py usercustomize.py pyvenv.cfg"},
    {"python", kHigh, kEnding, kByPython, ".pth ._pth"},
    {"interpreter", kHigh, kName, kByInterpreter,
     ".pdbrc .gdbinit .lldbinit .irbrc .pryrc .rprofile .renviron startup.jl .ghci .ocamlinit .iex.exs .erlang "
     ".ipython "
     "ipython_config.py .user.ini .htaccess .pythonrc .pythonrc.py .perldb"},
    {"interpreter", kHigh, kBelow, kByInterpreter, ".ipython .jupyter .gdb"},
    {"container", kMedium, kName, kContainer,
     "dockerfile containerfile compose.yml compose.yaml compose.override.yml compose.override.yaml docker-bake.hcl "
     "docker-bake.json"},
    {"container", kMedium, kStart, kContainer, "dockerfile. containerfile. docker-compose. podman-compose."},
    {"container", kMedium, kEnding, kContainer, ".dockerfile .containerfile"},
    {"deploy", kMedium, kName, kByDeploy,
     "procfile netlify.toml vercel.json now.json fly.toml render.yaml railway.json railway.toml heroku.yml app.yaml "
     "serverless.yml serverless.yaml firebase.json wrangler.toml wrangler.json wrangler.jsonc amplify.yml cdk.json "
     "pulumi.yaml skaffold.yaml devspace.yaml helmfile.yaml chart.yaml kustomization.yaml ansible.cfg terragrunt.hcl "
     ".platform.app.yaml .goreleaser.yml .goreleaser.yaml"},
    {"deploy", kMedium, kEnding, kByDeploy, ".tf .tf.json .tofu .pkr.hcl .nomad .service .timer"},
    {"code-config", kMedium, kEnding, kAsCode,
     ".config.js .config.cjs .config.mjs .config.ts .config.cts .config.mts .config.json .conf.js .conf.cjs .conf.mjs "
     ".conf.ts .workspace.ts .workspace.js"},
    {"code-config", kMedium, kStart, kAsCode,
     "gulpfile gruntfile tsconfig jsconfig nodemon. .ember-cli .rubocop .golangci. .php-cs-fixer .php_cs phpstan.neon "
     ".credo. .formatter."},
    {"code-config", kMedium, kName, kAsCode,
     ".pylintrc pylintrc mypy.ini .mypy.ini .flake8 .isort.cfg .jsdoc.json conf.py mkdocs.yml mkdocs.yaml "
     ".solargraph.yml "
     "psalm.xml rector.php .scalafix.conf .perlcriticrc .perltidyrc jupyter_notebook_config.py"},
});

std::vector<Row> rows_of_groups() {
  std::vector<Row> rows;
  for (const Group& group : kGroups) {
    for (std::string_view rest = group.texts; !rest.empty();) {
      const std::string_view text = rest.substr(0, rest.find(' '));
      rows.push_back({group.rule, group.severity, group.where, text, group.reason});
      rest.remove_prefix(std::min(text.size() + 1, rest.size()));
    }
  }
  return rows;
}

}  // namespace

std::span<const Row> rows() {
  static const std::vector<Row> all = rows_of_groups();
  return all;
}

}  // namespace sallyport::persistence
