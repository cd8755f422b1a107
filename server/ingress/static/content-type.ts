const UNKNOWN = 'application/octet-stream'
const compressiblePattern =
  /^(?:text\/|application\/(?:javascript|json|xml|wasm|manifest\+json|[a-z.+-]+\+(?:json|xml))|image\/(?:svg\+xml|bmp|x-icon)|font\/(?:ttf|otf))/

const overrides: Record<string, string> = {
  webmanifest: 'application/manifest+json',
  map: 'application/json;charset=utf-8',
  mjs: 'text/javascript;charset=utf-8',
  avif: 'image/avif',
  jxl: 'image/jxl',
}

export function contentTypeOf(path: string): string {
  const name = path.slice(path.lastIndexOf('/') + 1)
  const extension = name.includes('.') ? name.slice(name.lastIndexOf('.') + 1).toLowerCase() : ''
  if (extension === '') return UNKNOWN
  return overrides[extension] ?? Bun.file(`x.${extension}`).type
}

export function isCompressible(contentType: string): boolean {
  return compressiblePattern.test(contentType)
}
