const LOOPBACK_URL = /\/\/(?:[^@/\s]*@)?(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])(?=[:/]|$)/i

/**
 * The variable that sends builds to a proxy or registry on this machine's loopback, out of those the operator passes to builds. A network
 * of its own would keep such a build from it. What a service sets itself does not count.
 */
export const loopbackVariable = (passed: Readonly<Record<string, string>>): string | undefined =>
  Object.entries(passed).find(([, value]) => LOOPBACK_URL.test(value))?.[0]

export const sharedNetworkWarning = (variable: string): string =>
  `Warning: ${variable} names an address of this machine's loopback, so this build shares the machine's network and can reach its local ports.`
