/** Style sheet of all pages. Colours keep a contrast of 4.5 and more in both schemes; targets are at least 44 pixels high. */
export const style = `:root{color-scheme:light dark;
--page:#f4f5f7;--card:#fff;--text:#1b1e24;--quiet:#555c67;--line:#7f8692;--soft:#d9dce1;
--accent:#1d5bd0;--on-accent:#fff;--accent-hover:#164aab;
--bad:#a3201a;--bad-card:#fdeceb;--good:#0b5f2a;--good-card:#e6f5ea}
@media (prefers-color-scheme:dark){:root{
--page:#121418;--card:#1c1f25;--text:#e9ebee;--quiet:#a9b0bb;--line:#7b828d;--soft:#343942;
--accent:#9bbdff;--on-accent:#0b1a35;--accent-hover:#bcd2ff;
--bad:#ffb3ac;--bad-card:#3b1a18;--good:#8fe0a5;--good-card:#14301d}}
*{box-sizing:border-box}
body{margin:0;min-height:100vh;min-height:100svh;display:flex;flex-direction:column;background:var(--page);color:var(--text);
font:1rem/1.5 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;overflow-wrap:anywhere}
header,footer{width:100%;max-width:44rem;margin:0 auto;padding:1rem}
header{display:flex;flex-wrap:wrap;align-items:center;gap:.25rem 1rem}
header nav{margin:0 -.5rem 0 auto;display:flex;align-items:center}
header a,header button{min-height:2.75rem;padding:0 .5rem;display:inline-flex;align-items:center}
.brand{font-weight:700;line-height:1.3}
.host{display:block;color:var(--quiet);font-size:.875rem;font-weight:400}
footer{margin-top:auto;color:var(--quiet);font-size:.875rem}
main{width:100%;max-width:44rem;margin:0 auto;padding:0 1rem 2rem}
.narrow>*{max-width:27rem}
.card{background:var(--card);border:1px solid var(--soft);border-radius:.75rem;padding:1.25rem;margin:0 0 1rem}
@media (min-width:30rem){.card{padding:1.75rem}}
h1{font-size:1.5rem;line-height:1.25;margin:0 0 1rem}
h2{font-size:1.125rem;line-height:1.3;margin:0 0 .75rem}
p{margin:0 0 1rem}
.card>:last-child,.notice>:last-child,form:last-child>:last-child{margin-bottom:0}
a{color:var(--accent)}
a:hover{color:var(--accent-hover)}
:focus-visible{outline:3px solid var(--accent);outline-offset:2px}
label,legend{display:block;font-weight:600;margin:0 0 .25rem;padding:0}
.field{margin:0 0 1rem}
.hint{display:block;color:var(--quiet);font-size:.875rem;margin:0 0 .25rem}
input{width:100%;min-height:2.75rem;padding:.5rem .75rem;font:inherit;font-size:1rem;color:inherit;background:var(--page);
border:1px solid var(--line);border-radius:.5rem}
input[aria-invalid]{border:2px solid var(--bad)}
.problem{color:var(--bad);font-size:.875rem;margin:.25rem 0 0}
button,.button{width:100%;min-height:2.75rem;padding:.5rem 1rem;font:inherit;font-weight:600;text-align:center;text-decoration:none;
display:inline-flex;align-items:center;justify-content:center;border-radius:.5rem;border:1px solid var(--accent);cursor:pointer;
background:var(--accent);color:var(--on-accent)}
button:hover,.button:hover{background:var(--accent-hover);border-color:var(--accent-hover);color:var(--on-accent)}
button.second,.button.second{background:none;color:var(--accent);border-color:var(--line)}
button.second:hover,.button.second:hover{color:var(--accent-hover);border-color:var(--accent-hover)}
button.grave{background:none;color:var(--bad);border-color:var(--bad)}
button.grave:hover{background:var(--bad-card)}
button.plain{width:auto;background:none;border:0;color:var(--accent);text-decoration:underline;font-weight:400}
.row{display:flex;flex-wrap:wrap;gap:.75rem;margin:0 0 1rem}
.row>*{flex:1 1 9rem}
.or{display:flex;align-items:center;gap:.75rem;color:var(--quiet);margin:1.25rem 0}
.or::before,.or::after{content:"";flex:1;border-top:1px solid var(--soft)}
.stack>*+*{margin-top:.75rem}
.notice{border-radius:.5rem;padding:.75rem 1rem;margin:0 0 1rem;background:var(--good-card);color:var(--good);border:1px solid currentColor}
.notice.bad{background:var(--bad-card);color:var(--bad)}
.notice a{color:inherit}
.notice ul{margin:.25rem 0 0;padding-left:1.25rem}
time{white-space:nowrap}
dl{margin:0 0 1rem}
dt{color:var(--quiet);font-size:.875rem}
dd{margin:0 0 .75rem}
dd:last-child{margin:0}
ul.list{list-style:none;margin:0 0 1rem;padding:0}
ul.list>li{display:flex;flex-wrap:wrap;align-items:center;gap:.5rem 1rem;padding:.75rem 0;border-top:1px solid var(--soft)}
ul.list>li:first-child{border-top:0;padding-top:0}
ul.list>li:last-child{padding-bottom:0}
ul.list>li>:first-child{flex:1 1 8rem}
ul.list form,ul.list .button{flex:0 0 auto;width:auto;margin:0}
.quiet{color:var(--quiet);font-size:.875rem}
.code{font:600 1.75rem/1.3 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;letter-spacing:.08em;text-align:center;
background:var(--page);border:1px solid var(--soft);border-radius:.5rem;padding:.75rem;margin:0 0 1rem}
p.small{font-size:1rem;letter-spacing:.04em}
code,.codes{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
.codes{list-style:none;margin:0 0 1rem;padding:1rem;display:grid;grid-template-columns:repeat(auto-fill,minmax(9rem,1fr));gap:.5rem;
background:var(--page);border-radius:.5rem}
svg.qr{display:block;width:12rem;max-width:100%;height:auto;margin:0 auto 1rem;border-radius:.5rem;background:#fff}
.skip{position:absolute;left:-999rem}
.skip:focus{left:1rem;top:1rem;background:var(--card);padding:.5rem}
`

/** Its path changes with its content, so that browsers may keep it for ever. */
export const stylePath = `/pages-${new Bun.CryptoHasher('sha256').update(style).digest('hex').slice(0, 16)}.css`
