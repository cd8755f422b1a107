import { ts } from '@ts-morph/common'

/** Writes the types of an OpenAPI document: bun openapi-types-child.ts <URL of the document> <file to write>. */
// openapi-typescript writes with TypeScript's own printer, which version 7 no longer shows to JavaScript; ts-morph brings version 5 along.
Bun.plugin({
  name: 'typescript of ts-morph',
  setup(build) {
    build.module('typescript', () => ({ exports: { default: ts }, loader: 'object' }))
  },
})
const { default: typesOf, astToString } = await import('openapi-typescript')
const [document = '', file = ''] = process.argv.slice(2)
await Bun.write(file, astToString(await typesOf(new URL(document))))
