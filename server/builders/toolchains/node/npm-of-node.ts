/**
 * The npm that goes with a Node.js: the last one that its makers put beside it (deps/npm in https://github.com/nodejs/node, by its branches
 * v14.x to v24.x), where the `engines` of that npm allow it.
 */
const rows: readonly (readonly [node: string, npm: string])[] = [
  ['>=24', '11.6.2'],
  ['^22 || ^23', '10.9.4'],
  ['^18.17 || >=20.5', '10.8.2'],
  ['>=16', '8.19.4'],
]
const OLDEST = '6.14.18'

export const npmVersionFor = (node: string): string => rows.find(([range]) => Bun.semver.satisfies(node, range))?.[1] ?? OLDEST
