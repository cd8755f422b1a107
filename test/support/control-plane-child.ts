/** A control plane in a process of its own, to be killed. Takes its settings from the environment and says its address when it is ready. */
import { createApp } from '../../server/api/app/app.ts'
import { compose } from '../../server/boot/serve/compose.ts'
import { recover } from '../../server/boot/serve/recover.ts'
import { sweepFolders } from '../../server/boot/serve/sweep-folders.ts'
import { readConfig } from '../../server/boot/settings/config.ts'
import { ownEnvironment } from '../../server/boot/settings/environment.ts'
import { surviveErrors } from '../../server/platform/process/survive.ts'
import { createServerLog } from '../../server/platform/server-log.ts'

const config = readConfig(ownEnvironment(), {}, process.getuid?.() === 0)
const log = createServerLog((line) => process.stderr.write(line))
surviveErrors(log)
const { context, work, close } = await compose({ config, version: '0.0.0-test', executable: process.execPath, log })
const app = createApp(context)
const { port } = app.listen(config.CP_LISTEN)
await recover(context, work.keeper)
work.start()
await sweepFolders(context)
console.log(`http://127.0.0.1:${port}`)
process.on(
  'SIGTERM',
  () =>
    void app
      .stop()
      .then(close)
      .then(() => process.exit(0)),
)
