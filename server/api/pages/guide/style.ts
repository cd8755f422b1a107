/** What the guide needs beside the style sheet of all pages: running text, tables and listings. */
export const guideStyle = `body:not(.narrow) :is(main,header,footer){max-width:56rem}
.prose h2{margin-top:2rem}
.prose h3{font-size:1rem;margin:1.5rem 0 .5rem}
.prose :is(h2,h3) a{color:inherit;text-decoration:none}
.prose :is(h2,h3) a:hover{text-decoration:underline}
.prose :is(ul,ol){margin:0 0 1rem;padding-left:1.5rem}
.prose li{margin:0 0 .25rem}
.prose ul.contents{list-style:none;padding:0;columns:16rem}
.prose code{font-size:.9em;background:var(--page);border-radius:.25rem;padding:.1em .25em}
.prose pre{overflow-x:auto;background:var(--page);border:1px solid var(--soft);border-radius:.5rem;padding:.75rem 1rem;margin:0 0 1rem}
.prose pre code{padding:0;background:none;overflow-wrap:normal}
.prose table{display:block;overflow-x:auto;border-collapse:collapse;margin:0 0 1rem;font-size:.875rem;overflow-wrap:normal}
.prose :is(th,td){text-align:left;vertical-align:top;padding:.375rem .75rem .375rem 0;border-bottom:1px solid var(--soft)}
.prose :is(th,td)[align=right]{text-align:right}
nav[aria-label=Guide]{margin:0 0 .75rem}
nav.turn{display:flex;justify-content:space-between;gap:1rem;margin:0 0 1rem}
nav.turn a{padding:.5rem 0}
nav.turn a[rel=next]{margin-left:auto;text-align:right}
`

/** Its path changes with its content, so that browsers may keep it for ever. */
export const guideStylePath = `/guide-${new Bun.CryptoHasher('sha256').update(guideStyle).digest('hex').slice(0, 16)}.css`
