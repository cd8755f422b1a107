const LOOPBACK_URL = /\/\/(?:[^@/\s]*@)?(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])(?=[:/]|$)/i

/** By this variable builds are sent to a proxy on loopback, which a network of their own would keep them from. */
export const loopbackVariable = (passed: Readonly<Record<string, string>>): string | undefined =>
  Object.entries(passed).find(([, value]) => LOOPBACK_URL.test(value))?.[0]

export const sharedNetworkWarning = (variable: string): string =>
  `Warning: ${variable} names an address of this machine's loopback, so this build shares the machine's network and can reach its local ports.`
