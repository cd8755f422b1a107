/**
 * The npm that goes with a Node.js: one of the major that its makers put beside it (deps/npm in https://github.com/nodejs/node, by its
 * branches v14.x to v24.x), where the `engines` of that npm allow it. Those are, by `npm view npm@<version> engines`:
 * 11.6.2: ^20.17.0 || >=22.9.0; 10.9.4 and 10.8.2: ^18.17.0 || >=20.5.0; 8.19.4: ^12.13.0 || ^14.15.0 || >=16.0.0;
 * 6.14.18: 6 >=6.2.0 || 8 || >=9.3.0.
 */
const rows: readonly (readonly [node: string, npm: string])[] = [
  ['>=24', '11.6.2'],
  ['^22 || ^23', '10.9.4'],
  ['^18.17 || >=20.5', '10.8.2'],
  ['>=16', '8.19.4'],
]
const OLDEST = '6.14.18'

export const npmVersionFor = (node: string): string => rows.find(([range]) => Bun.semver.satisfies(node, range))?.[1] ?? OLDEST
