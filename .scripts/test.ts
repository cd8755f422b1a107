/**
 * Runs all tests, or those of one tier (`--tier fast`), and ends with one line that counts them: `N passed, N failed`. Files that failed beside others are run once more, alone:
 * tests of the whole platform share two cores, one kernel and its firewall. What passes then is told as unsteady, which is a defect with
 * its first message to start from, and is no failure of the change under test.
 */
import { rmSync } from 'node:fs'
import { recordedMs } from './durations.ts'
import { STRAY_ERRORS_FILE } from './stray-errors.ts'
import { countsOf, durationOf, failedFiles, failuresOf, readReport, relativeName, type TestReport } from './test-report.ts'
import { filesOf, type Tier, tierOf, tiers } from './tiers.ts'

/** More failed files than these are no matter of neighbours. */
const MAX_RERUN_FILES = 8

const first = await runVitest('dist/test-report.json', wantedFiles(process.argv.slice(2)))
const stray: string[] = await Bun.file(STRAY_ERRORS_FILE).json()
const failed = first.report === undefined ? [] : failedFiles(first.report)
const mayRerun = first.report !== undefined && failed.length > 0 && failed.length <= MAX_RERUN_FILES
if (mayRerun) console.log(`\nOnce more, alone: ${failed.map(relativeName).join(', ')}\n`)
const second = mayRerun ? await runVitest('dist/test-report-alone.json', ['--maxWorkers=1', ...failed.map(relativeName)]) : undefined

const report = merged(first.report, second?.report)
const unsteady = failed.filter(({ name }) => report.testResults.some((file) => file.name === name && countsOf(file).failed === 0))
const counts = report.testResults.map(countsOf)
const passedCount = counts.reduce((sum, { passed }) => sum + passed, 0)
const failedCount = counts.reduce((sum, count) => sum + count.failed, 0)
await Bun.write('dist/unsteady.json', `${JSON.stringify(unsteady.flatMap(failuresOf), null, 2)}\n`)
if (unsteady.length > 0) console.log(['', 'Unsteady, passed alone:', ...unsteady.flatMap(failuresOf), ''].join('\n'))
for (const file of failedFiles(report)) console.log(failuresOf(file).join('\n'))
for (const error of stray) console.log(`Outside of every test: ${error}`)
for (const tier of tiers) console.log(timeOf(tier))
const lostCount = failedCount + stray.length
console.log(`${passedCount} passed, ${lostCount} failed${report.numPendingTests > 0 ? `, ${report.numPendingTests} skipped` : ''}`)
process.exit(passedCount > 0 && lostCount === 0 && (second?.exitCode ?? first.exitCode) === 0 ? 0 : 1)

/** The options for vitest, with the files of a tier in the place of its name. */
function wantedFiles(options: string[]): string[] {
  if (options[0] !== '--tier') return options
  const [, wanted, ...others] = options
  const tier = tiers.find((one) => one === wanted)
  if (tier === undefined) throw new Error(`"${wanted}" is none of the tiers ${tiers.join(', ')}`)
  return [...filesOf(tier), ...others]
}

/** How many files of a tier have run, and how long they took together; several run at a time. */
function timeOf(tier: Tier): string {
  const files = report.testResults.filter((file) => tierOf(relativeName(file), recordedMs(relativeName(file))) === tier)
  const seconds = files.reduce((sum, file) => sum + durationOf(file), 0) / 1000
  return `${tier}: ${files.length} files, ${seconds.toFixed(0)} s of tests`
}

async function runVitest(reportFile: string, options: string[]): Promise<{ exitCode: number; report: TestReport | undefined }> {
  rmSync(reportFile, { force: true })
  await Bun.write(STRAY_ERRORS_FILE, '[]')
  const vitest = Bun.spawn(
    [
      process.execPath,
      '--bun',
      'node_modules/vitest/vitest.mjs',
      'run',
      '--config',
      '.vitest.config.ts',
      '--reporter=default',
      '--reporter=json',
      '--reporter=./.scripts/stray-errors.ts',
      `--outputFile.json=${reportFile}`,
      ...options,
    ],
    { stdout: 'inherit', stderr: 'inherit' },
  )
  const exitCode = await vitest.exited
  return { exitCode, report: await readReport(reportFile) }
}

/** The first report, with the files of the second in the place of their own. */
function merged(report: TestReport | undefined, later: TestReport | undefined): TestReport {
  if (report === undefined) return { numPassedTests: 0, numFailedTests: 0, numPendingTests: 0, testResults: [] }
  const again = new Map(later?.testResults.map((file) => [file.name, file]))
  return { ...report, testResults: report.testResults.map((file) => again.get(file.name) ?? file) }
}
