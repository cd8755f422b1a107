/** Writes test/durations.json, by which the longest files start first, from the report of the last full run. */
import { durationOf, readReport, relativeName } from './test-report.ts'

const report = await readReport('dist/test-report.json')
if (report === undefined) throw new Error('dist/test-report.json is missing: run `npm test` first')
const durations = report.testResults.map((file) => [relativeName(file), durationOf(file)] as const)
const sorted = Object.fromEntries(durations.sort(([one], [other]) => one.localeCompare(other)))
await Bun.write('test/durations.json', `${JSON.stringify(sorted, null, 2)}\n`)
