import { shellWord } from '../shell-word.ts'
import { mergeTools, requireTool } from '../toolchains/tool.ts'
import type { BuildPlan, BuildStep, DetectInput } from './plan.ts'
import { guessPythonStart, pythonRequirements } from './python-app.ts'
import { pythonWishes } from './python-wishes.ts'
import { runtimeNotes } from './runtime-notes.ts'
import type { SourceView } from './source-view.ts'
import { declaredStart, requireStart } from './start-command.ts'

const PYTHON_MARKERS = ['requirements.txt', 'pyproject.toml', 'setup.py', 'manage.py', 'main.py', 'app.py', 'wsgi.py', 'server.py']

export const hasPython = (files: SourceView): boolean => PYTHON_MARKERS.some((path) => files.has(path))

export function detectPython(input: DetectInput): BuildPlan {
  const { files, settings, toolchains } = input
  const python = requireTool(toolchains, 'python')
  const { pathEntries, env, readOnlyBinds } = mergeTools([python])
  const guessed = guessPythonStart(files)
  return {
    runtime: 'python',
    packageManager: 'pip',
    steps: pythonSteps(files, settings.buildCommand, shellWord(`${python.directory}/python3`)),
    startCommand: requireStart(declaredStart(input) ?? guessed, 'add a Procfile with a line "web: …"'),
    publishPaths: [],
    buildEnv: { ...env, PIP_DISABLE_PIP_VERSION_CHECK: '1', PIP_NO_INPUT: '1' },
    cacheEnv: { PIP_CACHE_DIR: 'pip' },
    runtimeEnv: { ...env, PYTHONUNBUFFERED: '1' },
    pathEntries: ['.venv/bin', ...pathEntries],
    readOnlyBinds,
    notes: [
      'Packages are installed into .venv; "python" and "pip" are those of .venv.',
      ...runtimeNotes({ title: 'Python', tool: python }, pythonWishes(input)),
    ],
  }
}

function pythonSteps(files: SourceView, buildCommand: string | undefined, python: string): BuildStep[] {
  const install = buildCommand ?? installCommand(files)
  // By its full path and cleared, because the source may hold the .venv of another machine.
  const create = `${python} -m venv --clear`
  // Without anything to install pip is not needed, and an environment without it is made ten times as fast.
  if (!install) return [{ name: 'virtual environment', command: `${create} --without-pip .venv` }]
  return [
    { name: 'virtual environment', command: `${create} .venv` },
    { name: buildCommand ? 'build' : 'install', command: install },
    { name: 'make .venv movable', command: MAKE_VENV_MOVABLE },
  ]
}

function installCommand(files: SourceView): string | undefined {
  if (files.has('requirements.txt')) return pythonRequirements(files).size === 0 ? undefined : 'pip install -r requirements.txt'
  return files.has('pyproject.toml') || files.has('setup.py') ? 'pip install .' : undefined
}

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
