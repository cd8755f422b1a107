/** Runs all tests and ends with one line that counts them: `N passed, N failed`. */
const reportFile = 'dist/test-report.json'
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
    `--outputFile.json=${reportFile}`,
    ...process.argv.slice(2),
  ],
  { stdout: 'inherit', stderr: 'inherit' },
)
const exitCode = await vitest.exited
const report = (await Bun.file(reportFile)
  .json()
  .catch(() => undefined)) as { numPassedTests: number; numFailedTests: number; numPendingTests: number } | undefined
const { numPassedTests: passed = 0, numFailedTests: failed = 0, numPendingTests: skipped = 0 } = report ?? {}
console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`)
process.exit(exitCode === 0 && passed > 0 && failed === 0 ? 0 : 1)
