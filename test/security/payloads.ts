/**
 * What is put into every string the API takes. `canary` is a path that only something outside the sandboxes can make; each
 * payload that could run somewhere would make it.
 */
export function payloadsFor(canary: string): string[] {
  const touch = `touch ${canary}`
  return [...commands(touch), ...options(touch, canary), ...paths(canary), ...texts(canary), ...sizes()]
}

const commands = (touch: string): string[] => [
  `;${touch}`,
  `; ${touch} #`,
  `& ${touch} &`,
  `&& ${touch}`,
  `| ${touch}`,
  `|| ${touch}`,
  `$(${touch})`,
  `"$(${touch})"`,
  `'$(${touch})'`,
  `\`${touch}\``,
  `'; ${touch}; '`,
  `"; ${touch}; "`,
  `\n${touch}\n`,
  `x\r\n${touch}`,
  `x\n${touch}`,
  `\${IFS;${touch}}`,
  `$IFS$()${touch}`,
  `\${x:-$(${touch})}`,
  `() { :; }; ${touch}`,
  `>(${touch})`,
  `<(${touch})`,
  `%0a${touch}`,
  `%3B${encodeURIComponent(touch)}`,
  `\\";${touch};\\"`,
  `{{constructor.constructor("process.mainModule.require('child_process').execSync('${touch}')")()}}`,
  `\${require('child_process').execSync('${touch}')}`,
  `$\{jndi:ldap://127.0.0.1:1/${touch}}`,
  `__import__('os').system('${touch}')`,
]

const options = (touch: string, canary: string): string[] => [
  '-rf',
  '--help',
  '-',
  '--',
  `--upload-pack=${touch}`,
  `-oProxyCommand=${touch}`,
  `ext::sh -c "${touch}"`,
  `--use-compress-program=${touch}`,
  `--checkpoint-action=exec=${touch}`,
  `--to-command=${touch}`,
  `-I ${touch}`,
  `--output=${canary}`,
  `-e process.mainModule.require('fs').writeFileSync('${canary}','')`,
]

const paths = (canary: string): string[] => [
  '../../../../../../etc/passwd',
  '..',
  '.',
  '/',
  canary,
  `../../../../../../../..${canary}`,
  '..\\..\\windows',
  '%2e%2e%2f%2e%2e%2fetc',
  'file:///etc/passwd',
  '/proc/self/environ',
  '~root',
  'a/../../b',
]

const texts = (canary: string): string[] => [
  'a\u0000b',
  '\u0000',
  '\u202etxt.exe',
  '\u001b[2J\u001b]0;owned\u0007',
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  "' OR '1'='1",
  `'; ATTACH DATABASE '${canary}' AS x; --`,
  '"); DROP TABLE services; --',
  '%s%s%n%x',
  '{"$gt": ""}',
  '__proto__',
  'constructor',
  'ＡＢＣ\u0300\u0301',
  '\ud800',
  '🦄'.repeat(50),
  'x\r\nSet-Cookie: owned=1',
  '*',
  '0x41414141',
  '1e309',
]

const sizes = (): string[] => ['', ' ', 'A'.repeat(10_000), '[['.repeat(5000), '9'.repeat(400)]
