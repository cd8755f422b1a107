/** Shows a page in the user's browser, on macOS or with a display. @returns false when there is nothing to show it with. */
export function openBrowser(url: string, env: Readonly<Record<string, string | undefined>>): boolean {
  const program = browserProgram(env)
  if (program === undefined || !/^https?:\/\//.test(url)) return false
  const path = Bun.which(program)
  if (path === null) return false
  Bun.spawn([path, url], { stdin: 'ignore', stdout: 'ignore', stderr: 'ignore' }).unref()
  return true
}

function browserProgram(env: Readonly<Record<string, string | undefined>>): string | undefined {
  if (process.platform === 'darwin') return 'open'
  return env.DISPLAY || env.WAYLAND_DISPLAY ? 'xdg-open' : undefined
}
