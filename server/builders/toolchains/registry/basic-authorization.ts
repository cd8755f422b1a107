/** What the name and password in an address become. They may stand in those of proxies and indexes. */
export function basicAuthorization(url: URL): { headers?: Record<string, string> } {
  if (url.username === '' && url.password === '') return {}
  const credentials = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`
  return { headers: { authorization: `Basic ${Buffer.from(credentials).toString('base64')}` } }
}
