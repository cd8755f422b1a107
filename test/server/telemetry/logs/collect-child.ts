/** Collects one file until it is killed. Arguments: database, file. */
import { createCollector } from '../../../../server/telemetry/logs/collector.ts'
import { openLogStore } from '../../../../server/telemetry/logs/store.ts'
import { followedFile } from './fixture.ts'

const [database = '', path = ''] = process.argv.slice(2)
const collector = createCollector({ store: openLogStore(database), pollMs: 1 })
collector.follow(followedFile({ path }))
setInterval(() => {}, 1000)
