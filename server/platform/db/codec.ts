export type Stored = string | number | bigint | null | Uint8Array

export interface Codec<T> {
  /** @throws Error saying why the stored value is none of this kind. */
  read(stored: Stored): T
  write(value: T): Stored
}

export const flag: Codec<boolean> = {
  read: (stored) => stored === 1,
  write: (value) => (value ? 1 : 0),
}

/** A time as clients get it (ISO 8601), kept in milliseconds since 1970. */
export const isoTime: Codec<string> = {
  read(stored) {
    if (typeof stored !== 'number') throw new Error('is no time in milliseconds')
    return new Date(stored).toISOString()
  },
  write: (value) => Date.parse(value),
}

export const orNull = <T>({ read, write }: Codec<T>): Codec<T | null> => ({
  read: (stored) => (stored === null ? null : read(stored)),
  write: (value) => (value === null ? null : write(value)),
})
