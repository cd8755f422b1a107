/** Collects one file until it is killed. Arguments: database, file, a file to make when it has begun. */
import { writeFileSync } from 'node:fs'
import { createCollector } from '../../../../server/telemetry/logs/collector.ts'
import { openLogStore } from '../../../../server/telemetry/logs/store.ts'
import { followedFile } from './fixture.ts'

const [database = '', path = '', up = ''] = process.argv.slice(2)
const collector = createCollector({ store: openLogStore(database), pollMs: 1 })
collector.follow(followedFile({ path }))
writeFileSync(up, '')
setInterval(() => {}, 1000)
