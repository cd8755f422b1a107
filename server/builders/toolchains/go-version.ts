const VERSION = /^(\d{1,4}\.\d{1,4}(?:\.\d{1,4})?)(?:(rc|beta)(\d{1,4}))?$/

/** Tells versions of Go (1.22, 1.22.3, 1.23rc1) from other words. */
export const isGoVersion = (version: string): boolean => VERSION.test(version)

/** The form in which releases are compared: `1.20` was one before 1.21.0, and stands for the first of its line since. */
export function comparable(version: string): string {
  const [, numbers = '0.0', kind, count] = VERSION.exec(version) ?? []
  const full = numbers.split('.').length === 3 ? numbers : `${numbers}.0`
  return kind === undefined ? full : `${full}-${kind}.${count}`
}

export const compareGo = (a: string, b: string): number => Bun.semver.order(comparable(a), comparable(b))

export const newestGo = (versions: readonly string[]): string | undefined => [...versions].sort(compareGo).at(-1)

const isStable = (version: string): boolean => !comparable(version).includes('-')

/** The newest stable one that is at least as new as what is asked for; Go goes on to build what older ones built. */
export const chooseGo = (least: string | undefined, versions: readonly string[]): string | undefined =>
  newestGo(versions.filter((version) => isStable(version) && (least === undefined || compareGo(version, least) >= 0)))
