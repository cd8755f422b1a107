import { mergeTools, requireTool } from '../toolchains/tool.ts'
import type { BuildPlan, DetectInput } from './plan.ts'
import { pythonRequirements, pythonScript } from './python-app.ts'
import { findPythonFramework } from './python-framework.ts'
import { pythonInstall } from './python-install.ts'
import { pythonWishes } from './python-wishes.ts'
import { runtimeNotes } from './runtime-notes.ts'
import type { SourceView } from './source-view.ts'
import { declaredStart, requireStart } from './start-command.ts'

const PYTHON_MARKERS = [
  'requirements.txt',
  'pyproject.toml',
  'Pipfile',
  'setup.py',
  'manage.py',
  'main.py',
  'app.py',
  'wsgi.py',
  'server.py',
]

export const hasPython = (files: SourceView): boolean => PYTHON_MARKERS.some((path) => files.has(path))

export function detectPython(input: DetectInput): BuildPlan {
  const { files, toolchains } = input
  const python = requireTool(toolchains, 'python')
  const { pathEntries, env, readOnlyBinds } = mergeTools([python, ...(toolchains.uv === undefined ? [] : [toolchains.uv])])
  const framework = findPythonFramework(input)
  const declared = declaredStart(input)
  const { server, finish } = framework ?? {}
  const { buildEnv, ...install } = pythonInstall(input, python, {
    ...(server && declared === undefined && !pythonRequirements(files).has(server) && { server }),
    ...(finish && { finish }),
  })
  return {
    runtime: 'python',
    ...install,
    startCommand: requireStart(declared ?? framework?.start ?? pythonScript(files), 'add a Procfile with a line "web: …"'),
    publishPaths: [],
    buildEnv: { ...env, ...buildEnv },
    runtimeEnv: { ...env, PYTHONUNBUFFERED: '1' },
    pathEntries: ['.venv/bin', ...pathEntries],
    readOnlyBinds,
    notes: [
      ...(framework === undefined ? [] : [`Framework: ${framework.title} (${framework.foundBy}).`]),
      'Packages are installed into .venv; "python" and "pip" are those of .venv.',
      ...runtimeNotes({ title: 'Python', tool: python }, pythonWishes(input)),
    ],
  }
}
