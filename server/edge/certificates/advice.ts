import type { AcmeSettings } from './acme/settings.ts'

interface Asked {
  host: string
  settings: AcmeSettings
}

type Advice = (asked: Asked) => string

const leadHere: Advice = ({ host, settings }) =>
  settings.challenge === 'tls-alpn-01'
    ? `${host} must lead to this machine, and its port 443 be reachable from the internet. Check the DNS records and the firewall.`
    : `${host} must lead to this machine, and its port 80 be reachable from the internet. Check the DNS records and the firewall.`

/** Advice by problem type, of RFC 8555 section 6.7 or our own. */
const advices: Record<string, Advice> = {
  dns: ({ host }) =>
    `The DNS of ${host} gave no usable answer. Set the records that \`cpctl domains list\` shows, and see that they resolve.`,
  connection: leadHere,
  tls: leadHere,
  unauthorized: leadHere,
  incorrectResponse: leadHere,
  caa: ({ host, settings }) =>
    `A CAA record of ${host} or a domain above it forbids this authority. Remove it, or add one that names the authority of ${settings.directory}.`,
  rateLimited: () => 'The authority has issued as much as it allows for now. Nothing needs to be done: it is asked again when it said.',
  rejectedIdentifier: ({ host }) => `The authority does not issue for ${host}. Upload a certificate of your own, or use another name.`,
  unsupportedIdentifier: ({ host }) => `The authority does not issue for names like ${host}. Upload a certificate of your own.`,
  externalAccountRequired: () => 'The authority wants an account made on its web site: set CP_ACME_EAB_KID and CP_ACME_EAB_HMAC.',
  invalidContact: () => 'The authority does not accept CP_ACME_EMAIL. Set an address that receives mail.',
  unsupportedContact: () => 'The authority does not accept CP_ACME_EMAIL. Set an address that receives mail.',
  userActionRequired: () => 'The authority wants something done at its web site, most likely new terms accepted.',
  unreachable: ({ settings }) =>
    `The authority at ${settings.directory} cannot be reached. It is asked again by itself; if this stays, check CP_ACME_DIRECTORY, CP_ACME_ROOT and the network.`,
  timeout: () => 'The authority took too long. It is asked again by itself.',
  dnsHook: ({ settings }) => `The program of CP_ACME_DNS_HOOK (${settings.dnsHook ?? 'not set'}) failed. Run it by hand to see why.`,
}

export const adviceOn = (type: string, asked: Asked): string =>
  (advices[type] ?? (() => 'The authority refused. It is asked again by itself.'))(asked)
