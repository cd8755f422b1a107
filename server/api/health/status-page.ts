import type { HealthReport, HealthState } from './check.ts'

const words: Record<HealthState, string> = { ok: 'Working', degraded: 'Partly working', down: 'Not working' }
const headlines: Record<HealthState, string> = {
  ok: 'Everything works',
  degraded: 'Some parts do not work',
  down: 'The platform does not work',
}

const style = `:root{color-scheme:light dark;font-family:system-ui,sans-serif;line-height:1.5}
body{max-width:36rem;margin:0 auto;padding:2rem 1rem}
h1{font-size:1.5rem}
ul{list-style:none;margin:0;padding:0}
li{display:flex;justify-content:space-between;gap:1rem;padding:.75rem 0;border-top:1px solid color-mix(in srgb,currentColor 25%,transparent)}
.ok{color:light-dark(#0a6b2d,#6fdc8c)}.degraded{color:light-dark(#8a5300,#ffb84d)}.down{color:light-dark(#b3261e,#ff8a80)}`

export const statusPagePolicy = `default-src 'none'; img-src data:; style-src 'sha256-${new Bun.CryptoHasher('sha256').update(style).digest('base64')}'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'`

/** The page is complete in itself, so that it works when nothing else does. */
export function renderStatusPage({ status, components }: HealthReport, checkedAt: Date): string {
  const rows = components.map(
    ({ name, status: state }) => `<li><span>${Bun.escapeHTML(name)}</span><strong class="${state}">${words[state]}</strong></li>`,
  )
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${headlines[status]} – status</title>
<link rel="icon" href="data:,">
<style>${style}</style>
</head>
<body>
<main>
<h1 class="${status}" role="status">${headlines[status]}</h1>
<ul aria-label="Components">
${rows.join('\n')}
</ul>
<p>Checked <time datetime="${checkedAt.toISOString()}">${checkedAt.toISOString().slice(0, 19).replace('T', ' ')} UTC</time></p>
</main>
</body>
</html>
`
}
