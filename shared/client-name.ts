/** Browsers by what tells them from those that pretend to be another: the more particular first. */
const browsers: readonly (readonly [RegExp, string])[] = [
  [/\bEdgA?\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\bSamsungBrowser\//, 'Samsung Internet'],
  [/\bFirefox\/|\bFxiOS\//, 'Firefox'],
  [/\bChrome\/|\bHeadlessChrome\/|\bCriOS\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
]
const systems: readonly (readonly [RegExp, string])[] = [
  [/\biPhone\b/, 'iPhone'],
  [/\biPad\b/, 'iPad'],
  [/\bAndroid\b/, 'Android'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac OS X\b/, 'macOS'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bLinux\b/, 'Linux'],
]

/** What a client is called in a few words: browsers by name and system, others as they call themselves. */
export function clientName(client: string): string {
  const nameIn = (table: typeof browsers) => table.find(([pattern]) => pattern.test(client))?.[1]
  const browser = client.startsWith('Mozilla/') ? nameIn(browsers) : undefined
  if (browser === undefined) return client || 'Unknown program'
  const system = nameIn(systems)
  return system === undefined ? browser : `${browser} on ${system}`
}
