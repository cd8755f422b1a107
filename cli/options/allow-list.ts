interface Range {
  cidrBlock: string
}

const EVERYWHERE = '0.0.0.0/0'

export const allowedText = (ranges: readonly Range[]): string =>
  ranges.map(({ cidrBlock }) => cidrBlock).join(', ') || 'nobody from outside'

export function rangesShutOut(before: readonly Range[], after: readonly Range[] | undefined): string[] {
  const kept = after?.map(({ cidrBlock }) => cidrBlock)
  if (kept === undefined || kept.includes(EVERYWHERE)) return []
  return before.map(({ cidrBlock }) => cidrBlock).filter((range) => !kept.includes(range))
}
