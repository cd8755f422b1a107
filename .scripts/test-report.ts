/** What the gate reads of vitest's JSON report. */
export interface TestReport {
  numPassedTests: number
  numFailedTests: number
  numPendingTests: number
  testResults: TestFile[]
}

interface TestFile {
  /** The file's absolute path. */
  name: string
  status: 'passed' | 'failed'
  /** Why the file failed as a whole: a hook, or an import. */
  message: string
  startTime: number
  endTime: number
  assertionResults: { fullName: string; status: string; failureMessages?: string[] }[]
}

export const readReport = async (path: string): Promise<TestReport | undefined> =>
  await Bun.file(path)
    .json()
    .catch(() => undefined)

export const relativeName = ({ name }: TestFile): string => name.slice(name.lastIndexOf('/test/') + 1)

/** Milliseconds from the file's first test to the end of its last. */
export const durationOf = ({ startTime, endTime }: TestFile): number => Math.round(endTime - startTime)

/** Files of which a test failed, or a hook, or the import. */
export const failedFiles = ({ testResults }: TestReport): TestFile[] =>
  testResults.filter(({ status, assertionResults }) => status === 'failed' || assertionResults.some((test) => test.status === 'failed'))

/** A line for each failure of a file, with the first line of its message. */
export function failuresOf(file: TestFile): string[] {
  const failed = file.assertionResults.filter(({ status }) => status === 'failed')
  if (failed.length === 0) return [`${relativeName(file)}: ${firstLine(file.message)}`]
  return failed.map(({ fullName, failureMessages }) => `${relativeName(file)} > ${fullName}: ${firstLine(failureMessages?.[0])}`)
}

const firstLine = (message = ''): string => message.split('\n', 1)[0] ?? ''

/** Tests of a file by outcome; a file that failed as a whole counts as one failure at least. */
export function countsOf(file: TestFile): { passed: number; failed: number } {
  const count = (wanted: string) => file.assertionResults.filter(({ status }) => status === wanted).length
  return { passed: count('passed'), failed: Math.max(count('failed'), file.status === 'failed' ? 1 : 0) }
}
