import type { SourceFile } from './files.ts'

/** Variables for local work; what ends so is there to be shared. */
const SECRET_NAME = /(^|\/)\.env(\.[^/]+)?$/
const SHARED_ENDING = /\.(example|sample|template|dist|defaults)$/

/** Files of variables that would go along with the source, and so stand in every release. */
export const dotenvFiles = (files: readonly SourceFile[]): string[] =>
  files.map(({ path }) => path).filter((path) => SECRET_NAME.test(path) && !SHARED_ENDING.test(path))
