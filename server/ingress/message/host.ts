const hostPattern = /^(\[[0-9a-f:.]+\]|[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_.])?)(?::([0-9]{0,5}))?$/

export interface HostAndPort {
  /** In lower case, without the dot of a fully qualified name: the key of the route table. */
  host: string
  port: number | undefined
}

/** Reads the value of a Host header, or a host name of the route table. Undefined when it is none. */
export function parseHost(value: string): HostAndPort | undefined {
  const match = hostPattern.exec(value.toLowerCase())
  const name = match?.[1]
  if (name === undefined) return undefined
  const port = match?.[2]
  return { host: name.endsWith('.') ? name.slice(0, -1) : name, port: port ? Number(port) : undefined }
}
