export interface ManagerHash {
  algorithm: string
  hex: string
}

export interface ManagerPin {
  name: 'npm' | 'pnpm' | 'yarn'
  version: string
  hash?: ManagerHash
}

/** Yarn of 2 and later comes by another name, and as one file. */
export const isModernYarn = ({ name, version }: ManagerPin): boolean => name === 'yarn' && !/^[01]\./.test(version)
