import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** A library that comes with PostgreSQL, by the files that it is in. */
export interface Part {
  name: string
  licence: string
  files: readonly string[]
  /** Where its files do not tell it themselves. */
  version?: string
}

/** Libraries that programs and modules load beside glibc's, with licences as SPDX names them. */
export const libraries: readonly Part[] = [
  { name: 'openssl', licence: 'Apache-2.0', files: ['libcrypto.so.3', 'libssl.so.3'] },
  { name: 'krb5', licence: 'MIT', files: ['libgssapi_krb5.so.2', 'libk5crypto.so.3', 'libkrb5.so.3', 'libkrb5support.so.0'] },
  { name: 'com_err', licence: 'MIT', files: ['libcom_err.so.2'] },
  { name: 'keyutils', licence: 'LGPL-2.1-or-later', files: ['libkeyutils.so.1'] },
  { name: 'lz4', licence: 'BSD-2-Clause', files: ['liblz4.so.1'] },
  { name: 'xz', licence: 'LicenseRef-Public-Domain', files: ['liblzma.so.5'] },
  { name: 'pcre2', licence: 'BSD-3-Clause', files: ['libpcre2-8.so.0'] },
  { name: 'libselinux', licence: 'libselinux-1.0', files: ['libselinux.so.1'] },
  { name: 'libxml2', licence: 'MIT', files: ['libxml2.so.2'] },
  { name: 'zlib', licence: 'Zlib', files: ['libz.so.1'] },
  { name: 'zstd', licence: 'BSD-3-Clause', files: ['libzstd.so.1'] },
]

/** Libraries that another maker has. */
export const moreLibraries: readonly Part[] = [
  { name: 'libxslt', licence: 'MIT', files: ['libxslt.so.1'], version: '1.1.29' },
  { name: 'ossp-uuid', licence: 'MIT', files: ['libossp-uuid.so.16'], version: '1.6.2' },
]

export interface Component {
  name: string
  version: string
  licence: string
  purl: string
}

/** The parts as they are listed, with the versions that their files tell. @throws Error for one whose version nobody knows. */
export const componentsOf = (parts: readonly Part[], folder: string): Component[] =>
  parts.map(({ name, licence, files, version }) => {
    const told = version ?? packageVersion(readFileSync(join(folder, files[0] ?? ''), 'latin1'))
    if (told === undefined) throw new Error(`${name} does not tell its version: write it down in parts.ts`)
    return { name, version: told, licence, purl: `pkg:generic/${name}@${told}` }
  })

/** Distributions name the file of debugging symbols in each library by its own, then `-version-release.architecture.debug`. */
export const packageVersion = (text: string): string | undefined => /-([0-9][\w.+~]*)-[\w.+~]+\.(?:x86_64|aarch64)\.debug\0/.exec(text)?.[1]
