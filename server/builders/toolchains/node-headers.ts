import { readFile, realpath } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Toolchains } from './tool.ts'

/** From then on npm warns of settings that it does not know, and hands node-gyp's on by another name. */
const NAMED_ANEW_SINCE = 11

/**
 * What has packages with C++ in them compiled with the headers that stand beside Node.js, where they are of its very version: else node-gyp
 * fetches them from nodejs.org, which a closed network does not reach.
 */
export async function nodeHeadersEnv({ node, npm }: Toolchains['tools']): Promise<Record<string, string>> {
  if (node?.version === undefined || npm === undefined) return {}
  const prefix = dirname(dirname(await realpath(join(node.directory, 'node'))))
  if ((await versionOfHeaders(prefix)) !== node.version) return {}
  const npmMajor = await majorOfNpm(join(npm.directory, 'npm'))
  return { [npmMajor < NAMED_ANEW_SINCE ? 'npm_config_nodedir' : 'npm_package_config_node_gyp_nodedir']: prefix }
}

async function versionOfHeaders(prefix: string): Promise<string | undefined> {
  const header = await readFile(join(prefix, 'include/node/node_version.h'), 'utf8').catch(() => '')
  const numbers = ['MAJOR', 'MINOR', 'PATCH'].map((part) => new RegExp(`#define NODE_${part}_VERSION (\\d+)`).exec(header)?.[1])
  return numbers.includes(undefined) ? undefined : numbers.join('.')
}

/** Its version stands beside the program: asking that takes a third of a second. */
async function majorOfNpm(program: string): Promise<number> {
  const path = join(dirname(dirname(await realpath(program))), 'package.json')
  const text = await readFile(path, 'utf8').catch(() => '')
  return Number(/"version":\s*"(\d+)\./.exec(text)?.[1] ?? NAMED_ANEW_SINCE)
}
