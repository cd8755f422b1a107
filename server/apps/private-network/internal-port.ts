/**
 * At which port siblings reach a service: that of its instances where each has a network of its own, elsewhere one that leads to theirs.
 */
export const INTERNAL_PORT = 10_000
