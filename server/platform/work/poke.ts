export type Poke<Kind extends string> = (kind: Kind, id?: string) => void

export const pokeBy =
  <Kind extends string>(owners: Readonly<Record<Kind, (id: string) => void>>): Poke<Kind> =>
  (kind, id = '') =>
    owners[kind](id)
