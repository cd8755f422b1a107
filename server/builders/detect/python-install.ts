/** How the packages of a Python app come into its environment: by uv, or by pip where there is no uv. */
import { AppError } from '../../../shared/error.ts'
import { shellWord } from '../shell-word.ts'
import type { Tool } from '../toolchains/tool.ts'
import { pythonInputs } from './kept-python.ts'
import type { BuildPlan, BuildStep, DetectInput } from './plan.ts'
import { isPoetryPackage } from './poetry.ts'
import { type PythonFramework, pythonRequirements } from './python-app.ts'
import type { SourceView } from './source-view.ts'

type Server = NonNullable<PythonFramework['server']>

/** Without its extras uvicorn has nothing that speaks WebSocket. */
const serverPackages: Record<Server, string> = { gunicorn: 'gunicorn', uvicorn: "'uvicorn[standard]'" }

export interface AfterInstall {
  server?: Server
  finish?: string
}

type Installing = Pick<BuildPlan, 'packageManager' | 'steps' | 'buildEnv' | 'cacheEnv'>

const quietPip = { PIP_DISABLE_PIP_VERSION_CHECK: '1', PIP_NO_INPUT: '1' }

export function pythonInstall({ files, settings, toolchains }: DetectInput, python: Tool, after: AfterInstall = {}): Installing {
  const { buildCommand } = settings
  const program = shellWord(`${python.directory}/${python.program ?? 'python3'}`)
  const wanted = { files, buildCommand, python: program, after }
  return toolchains.uv === undefined ? byPip(wanted) : byUv(wanted)
}

interface Wanted {
  files: SourceView
  buildCommand: string | undefined
  python: string
  after: AfterInstall
}

function byPip({ files, buildCommand, python, after }: Wanted): Installing {
  // By its full path and cleared, because the source may hold the .venv of another machine.
  const create = `${python} -m venv --clear`
  const install = buildCommand ?? installOf(files, 'pip')
  return {
    packageManager: 'pip',
    // Without anything to install pip is not needed, and an environment without it is made ten times as fast.
    steps:
      install === undefined
        ? [environment(`${create} --without-pip .venv`)]
        : stepsOf({ files, create: `${create} .venv`, install, buildCommand, pip: 'pip', after }),
    buildEnv: quietPip,
    cacheEnv: { PIP_CACHE_DIR: 'pip' },
  }
}

/** A build command of the owner's own may call pip, and finds it as without uv. */
function byUv({ files, buildCommand, python, after }: Wanted): Installing {
  const create = `uv venv --quiet --clear --relocatable${buildCommand === undefined ? '' : ' --seed'} --python ${python} .venv`
  const install = buildCommand ?? uvInstall(files)
  return {
    packageManager: 'uv',
    steps: install === undefined ? [environment(create)] : stepsOf({ files, create, install, buildCommand, pip: 'uv pip', after }),
    // Releases are read-only, so that Python could not keep what it compiles; and a link into the cache would let a later build change a release.
    buildEnv: { ...quietPip, UV_COMPILE_BYTECODE: '1', UV_LINK_MODE: 'copy', UV_PYTHON_DOWNLOADS: 'never', UV_NO_PROGRESS: '1' },
    cacheEnv: { PIP_CACHE_DIR: 'pip', UV_CACHE_DIR: 'uv' },
  }
}

const environment = (command: string): BuildStep => ({ name: 'virtual environment', command })

interface Steps extends Pick<Wanted, 'files' | 'buildCommand' | 'after'> {
  create: string
  install: string
  pip: 'pip' | 'uv pip'
}

function stepsOf({ files, create, install, buildCommand, pip, after: { server, finish } }: Steps): BuildStep[] {
  const inputs = buildCommand ? undefined : pythonInputs(files, pip)
  const missing = server && `python -c 'import ${server}' 2>/dev/null || ${pip} install ${serverPackages[server]}`
  return [
    environment(create),
    { name: buildCommand ? 'build' : 'install', command: install, ...(inputs && { inputs, keeps: '.venv' as const }) },
    ...(missing === undefined ? [] : [{ name: 'server, where the app brings none', command: missing }]),
    { name: 'make .venv movable', command: MAKE_VENV_MOVABLE },
    // A build command of the owner's own does that as well, or has its reasons.
    ...(finish === undefined || buildCommand ? [] : [{ name: 'make ready', command: finish }]),
  ]
}

/** Undefined where nothing is asked for. @throws AppError `bad_request` where what is asked for is not told. */
function installOf(files: SourceView, pip: 'pip' | 'uv pip'): string | undefined {
  if (files.has('Pipfile.lock')) return installPipfile(pip)
  const hasList = files.has('requirements.txt')
  if (hasList && pythonRequirements(files).size > 0) return `${pip} install -r requirements.txt`
  if (!hasList && (files.has('pyproject.toml') || files.has('setup.py'))) return `${pip} install .`
  if (!files.has('Pipfile')) return undefined
  throw new AppError('bad_request', 'Pipfile has no Pipfile.lock beside it: run "pipenv lock", commit both, and deploy again')
}

/** Lock files first, of which Render goes by the same order; what stands beside them was often made out of them. */
function uvInstall(files: SourceView): string | undefined {
  if (files.has('uv.lock')) return UV_SYNC
  if (files.has('poetry.lock')) return isPoetryPackage(files) ? `${INSTALL_POETRY} && uv pip install --no-deps .` : INSTALL_POETRY
  return installOf(files, 'uv pip')
}

/** Into the environment that is there, whatever .python-version says; and not editable, as the release would look for the app where it was built. */
const UV_SYNC = 'uv sync --python .venv/bin/python --locked --no-dev --no-editable --inexact'

/** Poetry alone reads its lock file. Installing it asks another interface of PyPI than the index, which mirrors do not have. */
const INSTALL_POETRY =
  "uvx --with poetry-plugin-export --from 'poetry>=2,<3' poetry export --only main --format requirements.txt --output .venv/requirements.txt && uv pip install -r .venv/requirements.txt"

/** A Pipfile.lock says the same as a list of requirements with hashes, which uv and pip read. */
const installPipfile = (pip: string): string => `python - > .venv/requirements.txt <<'END' && ${pip} install -r .venv/requirements.txt
import json
with open("Pipfile.lock") as file:
    lock = json.load(file)
for at, source in enumerate(lock["_meta"].get("sources", [])):
    if source["url"].rstrip("/") != "https://pypi.org/simple":
        print("--extra-index-url" if at else "--index-url", source["url"])
for name, wanted in lock["default"].items():
    extras = "[" + ",".join(wanted["extras"]) + "]" if "extras" in wanted else ""
    if "git" in wanted:
        place = " @ git+" + wanted["git"] + "@" + wanted["ref"]
    elif "file" in wanted:
        place = " @ " + wanted["file"]
    else:
        place = wanted.get("version", "")
    if "path" in wanted:
        print(wanted["path"] + extras)
        continue
    marker = " ; " + wanted["markers"] if "markers" in wanted else ""
    hashes = [] if " @ " in place else ["--hash=" + one for one in wanted.get("hashes", [])]
    print(" ".join([name + extras + place + marker, *hashes]))
END`

/**
 * pip writes the absolute path of the environment's python into the head of every script, but a release stands elsewhere than its build.
 * The head that replaces it looks for python beside the script, and is sh and Python at once. It is written inside the sandbox, as the
 * files are the user's.
 */
const MAKE_VENV_MOVABLE = `python - <<'END'
import os
head = b"""#!/bin/sh
'''exec' "$(dirname -- "$(realpath -- "$0")")/python" "$0" "$@"
' '''
"""
for entry in os.scandir(".venv/bin"):
    if not entry.is_file(follow_symlinks=False):
        continue
    with open(entry.path, "rb") as file:
        lines = file.read().split(b"\\n")
    for at, length in ((0, 1), (1, 3)):
        if lines[0][:2] == b"#!" and b"/.venv/bin/python" in b"".join(lines[at:at + 1]):
            with open(entry.path, "wb") as file:
                file.write(head + b"\\n".join(lines[length:]))
            break
END`
