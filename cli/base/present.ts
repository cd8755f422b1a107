type Present<T> = { [K in keyof T]?: Exclude<T[K], undefined> }

/** The fields that have a value: an absent one and one that is undefined are different things to the server. */
export const present = <T extends object>(fields: T): Present<T> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Present<T>
