import { readFile, stat } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import ignore, { type Ignore } from 'ignore'
import { LINK_FILE } from '../linking/file.ts'

/** Never part of a source: history, what is installed or made anew from it, and where cpctl deploys it to. */
const alwaysIgnored: ReadonlySet<string> = new Set([
  '.git',
  '.hg',
  '.svn',
  'node_modules',
  '.venv',
  'venv',
  '__pycache__',
  '.DS_Store',
  LINK_FILE,
])

/** Files with patterns, the later winning over the earlier. `.cpignore` speaks only to us, so it has the last word. */
const patternFiles = ['.gitignore', '.cpignore'] as const

interface Rules {
  folder: string
  patterns: Ignore
}

/** What applies in one folder: its own patterns and those of the folders above it. */
export interface IgnoreRules {
  ignores(name: string, kind: 'file' | 'directory'): boolean
  enter(name: string): Promise<IgnoreRules>
}

/** The rules at the root of a source; in a git repository those of its parent folders apply too, as they do in git. */
export async function ignoreRules(root: string): Promise<IgnoreRules> {
  const rules = await Promise.all(
    (await foldersUpToRepository(root)).map((folder) => rulesOf(folder, folder === root ? patternFiles : ['.gitignore'])),
  )
  return rulesIn(root, rules.flat())
}

function rulesIn(folder: string, rules: readonly Rules[]): IgnoreRules {
  const verdictOf = (rule: Rules, name: string, kind: 'file' | 'directory') =>
    rule.patterns.test(relative(rule.folder, join(folder, name)) + (kind === 'directory' ? '/' : ''))
  return {
    ignores(name, kind) {
      if (alwaysIgnored.has(name)) return true
      return rules.reduce((isIgnored, rule) => {
        const verdict = verdictOf(rule, name, kind)
        return verdict.ignored || (isIgnored && !verdict.unignored)
      }, false)
    },
    async enter(name) {
      // A folder is entered only where a later pattern overruled those that leave it out: these do not count inside.
      const remaining = rules.filter((rule) => !verdictOf(rule, name, 'directory').ignored)
      const below = join(folder, name)
      return rulesIn(below, [...remaining, ...(await rulesOf(below, patternFiles))])
    },
  }
}

async function rulesOf(folder: string, names: readonly string[]): Promise<Rules[]> {
  const texts = await Promise.all(names.map((name) => textOf(join(folder, name))))
  return texts.filter((text) => text !== '').map((text) => ({ folder, patterns: ignore().add(text) }))
}

async function textOf(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'EISDIR')) return ''
    throw error
  }
}

/** The folders from the repository's root down to `root`, or `root` alone outside a repository. */
async function foldersUpToRepository(root: string): Promise<string[]> {
  const folders = [root]
  for (let folder = root; ; folder = dirname(folder)) {
    if (folder !== root) folders.unshift(folder)
    if (await exists(join(folder, '.git'))) return folders
    if (dirname(folder) === folder) return [root]
  }
}

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  )
