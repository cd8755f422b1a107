import type { KeptFolder } from '../detect/plan.ts'
import { shellWord } from '../shell-word.ts'

export const KEPT_VARIABLE = 'CPD_KEPT_DEPENDENCIES'

/** The one of today, and that of a branch or a rollback beside it. */
const MOST_KEPT = 2

export interface KeptInstall {
  command: string
  inputs: readonly string[]
  keeps?: KeptFolder
}

/** What tells one set of tools from another; the environment of Python is a link to its interpreter. */
const toolsOf: Record<KeptFolder, string> = {
  node_modules: 'command -v npm; for tool in node bun; do command -v "$tool" && "$tool" --version; done',
  '.venv': 'readlink -f .venv/bin/python; .venv/bin/python --version; command -v uv pip',
}

/**
 * An install whose result is kept, and put in place again by a build with the same command, files, tools and variables. All of it is done by
 * the build itself, as the service's own user: what one build leaves can harm nothing but later builds of the service. They get copies.
 */
export function keepingInstall({ command, inputs, keeps = 'node_modules' }: KeptInstall): string {
  const files = inputs.map(shellWord).join(' ')
  return `kept=$${KEPT_VARIABLE}
key=$({ printf '%s\\n' ${shellWord(command)}; uname -sm; ${toolsOf[keeps]}
  env | grep -v -E '^(PATH|PWD|OLDPWD|SHLVL|_|CPD_DEPLOY_ID)=' | LC_ALL=C sort
  sha256sum -- ${files}; } 2>&1 | sha256sum | cut -c 1-32)
folders() { find . -name ${keeps} -prune -type d -print0; }
if [ -d "$kept/$key" ]; then
  folders | xargs -0r rm -rf
  if cp -a "$kept/$key/." .; then
    touch "$kept/$key"
    echo ${shellWord(`Dependencies are those of an earlier build: ${inputs.join(', ')}, variables and tools are the same. cpctl deploys create --clear-cache installs them anew.`)}
    exit 0
  fi
  folders | xargs -0r rm -rf
fi
begun=$(mktemp)
( ${command}
) || exit
others=$(find . -name ${keeps} -prune -o ! -type d -cnewer "$begun" -print | head -n 3)
rm -f "$begun"
if [ -n "$others" ]; then
  echo "Dependencies are not kept for later builds, as installing them wrote more than ${keeps}:" $others
  exit 0
fi
rm -rf "$kept/new"
if mkdir -p "$kept/new" && folders | xargs -0r cp -a --parents -t "$kept/new" && mv -T "$kept/new" "$kept/$key"; then
  ls -1t "$kept" | tail -n +${MOST_KEPT + 1} | while IFS= read -r old; do rm -rf "$kept/$old"; done
  echo "Dependencies are kept for builds of the same lock file: $(du -sh "$kept/$key" | cut -f 1)"
else
  rm -rf "$kept/new" "$kept/$key"
  echo 'Dependencies are not kept for later builds: the disk has no room for them.'
fi`
}
