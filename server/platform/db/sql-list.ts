/** A list of names of our own for `IN (…)`. Nothing that users give belongs in it. */
export const sqlList = (names: readonly string[]): string => names.map((name) => `'${name}'`).join(', ')
