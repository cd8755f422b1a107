/** Siblings reach a service at this port, which is its instances' own or leads to it. */
export const INTERNAL_PORT = 10_000
