/** `bun .scripts/settings-doc.ts`: writes server/docs/settings.md out of the rows of the settings. */
import { describeConfig, readConfig, serveFlags } from '../server/boot/settings/config.ts'

const PAGE = 'server/docs/settings.md'

const head = `# Settings

Each setting is an environment variable of \`cpd\`, and some are flags as well. After \`cpd install\` they stand in \`/etc/cpd/cpd.env\`. A change
takes effect with \`sudo systemctl restart cpd\`; apps go on serving meanwhile. An unknown \`CP_…\` variable or a bad value stops the start with a line
that names it.

\`cpd config\` prints what its own environment and flags make of each setting, with secrets only as set or not. For the settings of the installed unit:

\`\`\`
$ sudo sh -c 'set -a; . /etc/cpd/cpd.env; cpd config'
\`\`\`

\`cpd upgrade\`, \`cpd doctor\`, \`cpd stop\`, \`cpd strays\` and \`cpd audit verify\` read their environment in the same way. Where the data is not in
\`/var/lib/cpd\`, give them \`--data <folder>\`.

This page is written by \`bun .scripts/settings-doc.ts\`. Defaults are those of a server that root starts.
`

const foot = `## Settings that belong together

- \`SERVICE_API_TOKEN\` may also be called \`CONTROL_PLANE_API_TOKEN\`, its old name. It has at least 24 characters.
- \`CP_DATA_DIR\` is \`./data\` where an ordinary user starts the server.
- \`CP_SMTP_URL\` and \`CP_SMTP_FROM\` are set both or neither. STARTTLS is used where it is offered; a password needs TLS.
- \`CP_ACME_EAB_KID\` and \`CP_ACME_EAB_HMAC\` are set both or neither. \`dns-01\` needs \`CP_ACME_DNS_HOOK\`. An authority with a \`CP_ACME_ROOT\` counts as
  private and may certify names that the public DNS does not know.
- Sign-in with GitHub needs id and secret (scope \`user:email\`), Google or your own OpenID provider as well, and Apple its id, team, key and key file, and an
  https public URL. See [signing in](people.md#providers).
- \`CP_BUILD_PASS\` takes names with \`*\` at their end, and never hands a setting of this table to a build.

## cpctl

\`cpctl\` reads \`CPCTL_URL\`, \`CPCTL_TOKEN\`, \`CPCTL_CONTEXT\` and \`CPCTL_WORKSPACE\`; \`NO_COLOR\` is respected.
`

/** The page as it is to be. */
export function settingsPage(): string {
  const flags = new Map(serveFlags.map(({ name, flag }) => [name, flag]))
  const rows = describeConfig(readConfig({}, {}, true)).map(({ name, value, help }) => {
    const flag = flags.get(name)
    return `| \`${name}\`${flag === undefined ? '' : `, \`${flag}\``} | ${defaultCell(value)} | ${help.replaceAll('|', '\\|').replace(/(?:[\w./-]*<[^>]+>)+[\w./-]*/g, '`$&`')} |`
  })
  return [head, '| setting | default | meaning |', '| --- | --- | --- |', ...rows, '', foot].join('\n')
}

/** What stands for no value is in words, in parentheses. */
const defaultCell = (value: string): string =>
  value.startsWith('(')
    ? value.slice(1, -1)
    : value
        .split(',')
        .map((part) => `\`${part}\``)
        .join(', ')

if (import.meta.main) await Bun.write(PAGE, settingsPage())
