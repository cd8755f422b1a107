const REPORT_EVERY_MS = 60_000

/** Counts what strangers can cause at will, and reports it once a minute at most. */
export interface ReportedCount {
  count(reason: string): void
  stop(): void
}

export function createReportedCount(report: (count: number, reason: string) => void): ReportedCount {
  let count = 0
  let firstReason = ''
  let timer: ReturnType<typeof setTimeout> | undefined
  const reportNow = () => {
    timer = undefined
    if (count > 0) report(count, firstReason)
    count = 0
  }
  return {
    count(reason) {
      if (count++ === 0) firstReason = reason
      if (timer !== undefined) return
      timer = setTimeout(reportNow, REPORT_EVERY_MS)
      timer.unref()
    },
    stop() {
      clearTimeout(timer)
      reportNow()
    },
  }
}
