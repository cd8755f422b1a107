/** Scripts over Bun for machines without Node.js, and for services that want Bun. What they do not know is refused with a word about what to do. */
import { chmod, mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { replaceFile } from '../../platform/files/replace-file.ts'

export const STAND_IN_DIR = 'stand-in'

export const FROM_FIRST_PACKAGE = "sed -n '/node_modules/,$p'"

/** Bun takes flags of Node's before a script, but not these. */
const NODE = `#!/bin/sh
export BUN_BE_BUN=1
case \${1-} in
  -v | --version) echo '${process.version}'; exit ;;
  --run) shift; exec "\${0%/*}/../bun" run "$@" ;;
  -) shift; exec "\${0%/*}/../bun" run - "$@" ;;
  '') [ -t 0 ] || exec "\${0%/*}/../bun" run - ;;
esac
exec "\${0%/*}/../node" "$@"
`

const NPX = `#!/bin/sh
export BUN_BE_BUN=1
while :; do
  case \${1-} in
    -y | --yes | -q | --quiet) shift ;;
    -v | --version) exec "\${0%/*}/npm" --version ;;
    *) break ;;
  esac
done
exec "\${0%/*}/../bunx" "$@"
`

const NPM = `#!/bin/sh
export BUN_BE_BUN=1
here=\${0%/*}
silent=
bun() { exec "$here/../bun" "$@"; }
flag() {
  case $1 in
    -s | --silent | --loglevel=silent) silent=--silent ;;
    --prefix=*) cd -- "\${1#*=}" || exit ;;
    -v | --version) echo '11.0.0-bun.${Bun.version}'; exit ;;
    -*) ;;
    *) return 1 ;;
  esac
}
folder() {
  case $1 in
    --prefix | -C) cd -- "$2" || exit ;;
    *) return 1 ;;
  esac
}
flags() {
  taken=0
  while [ $# -gt 0 ] && [ "$1" != -- ]; do
    if folder "$1" "\${2-.}"; then [ $# -lt 2 ] || { shift; taken=$((taken + 1)); }
    elif ! flag "$1"; then break; fi
    shift; taken=$((taken + 1))
  done
}
script() {
  name=$1
  shift
  flags "$@"
  shift "$taken"
  [ "\${1-}" != -- ] || shift
  bun run $silent "$name" "$@"
}
install() {
  packages= production= scripts= dev=
  for word in "$@"; do
    case $word in
      --production | --omit=dev | --only=production | --only=prod) production=--production ;;
      --ignore-scripts) scripts=--ignore-scripts ;;
      -D | --save-dev) dev=--dev ;;
      -g | --global) refuse "$command $word" ;;
      -*) ;;
      *) packages=yes ;;
    esac
  done
  if [ -z "$packages" ]; then
    "$here/../bun" install --backend=copyfile $production $scripts || exit
    "$here/../bun" pm untrusted 2>&1 | ${FROM_FIRST_PACKAGE}
    exit 0
  fi
  for word in "$@"; do
    shift
    case $word in -*) ;; *) set -- "$@" "$word" ;; esac
  done
  bun add --backend=copyfile $dev $scripts "$@"
}
refuse() {
  echo "npm $1: Bun stands in for npm here, and does not know this. Use bun itself, or have the operator of the server install Node.js with npm." >&2
  exit 1
}
flags "$@"
shift "$taken"
command=\${1-}
[ $# -eq 0 ] || shift
case $command in
  run | run-script)
    flags "$@"
    shift "$taken"
    [ $# -gt 0 ] || bun run
    script "$@" ;;
  start | stop | test | restart) script "$command" "$@" ;;
  t) script test "$@" ;;
  install | i | add | ci | clean-install) install "$@" ;;
  exec | x)
    [ "\${1-}" != -- ] || shift
    exec "$here/npx" "$@" ;;
  audit | fund | prune | cache | config) echo "npm $command: passed over, as Bun stands in for npm here." >&2 ;;
  *) refuse "$command" ;;
esac
`

const scripts = { node: NODE, npm: NPM, npx: NPX }

/** Writes the scripts where they differ, each in one step, as apps may be starting them. */
export async function ensureStandIns(toolchainDir: string): Promise<void> {
  const dir = join(toolchainDir, STAND_IN_DIR)
  await mkdir(dir, { recursive: true, mode: 0o755 })
  await chmod(dir, 0o755)
  for (const [name, text] of Object.entries(scripts)) {
    const path = join(dir, name)
    if ((await readFile(path, 'utf8').catch(() => undefined)) === text) continue
    await replaceFile(path, text, { mode: 0o755, incoming: join(toolchainDir, `incoming-${crypto.randomUUID()}`) })
  }
}
