/** Has the reconciler of one kind look at what is named, or at all of its kind, before it would by itself. */
export type Poke<Kind extends string> = (kind: Kind, id?: string) => void

/** A `poke` out of what looks at each kind. */
export const pokeBy =
  <Kind extends string>(owners: Readonly<Record<Kind, (id: string) => void>>): Poke<Kind> =>
  (kind, id = '') =>
    owners[kind](id)
