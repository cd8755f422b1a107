const MAX_SLUG_CHARS = 48

/** A DNS label takes 63 characters; the rest is left for suffixes. Names without a usable letter become `service`. */
export function slugify(name: string): string {
  const slug = name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[\u0300-\u036f]/g, '')
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, MAX_SLUG_CHARS)
    .replace(/^-+|-+$/g, '')
  return slug === '' ? 'service' : slug
}
