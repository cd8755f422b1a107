/**
 * How the output of a workload gets into its file. The workload has a pipe and never the file itself: whoever holds a file of ours can make
 * it as long as the disk (fallocate, ftruncate), and no quota sees it. A small process of ours outside of the sandbox reads the pipe and
 * appends to the file, whether or not the control plane is alive. It ends when nobody holds the pipe any more.
 *
 * Nothing waits for it for long: what comes faster than it may be kept, or while the file has all the space it may have, or the disk has
 * none, is read and dropped but for its end, and a line in its place says how much. The control plane gives the space back as it takes the lines in.
 */
import { join } from 'node:path'
import { openPipe } from '../../../platform/process/pipe.ts'
import { spawnProcess } from '../../../platform/process/spawn.ts'
import { SYSTEM_PATH } from '../../../platform/process/system-tools.ts'
import { isAlive, signalProcess } from '../kernel/proc.ts'
import { isTrueWithin } from './processes.ts'
import type { Records, Workload } from './record.ts'

const READ_BYTES = 16 * 1024
const READS = 1024
/** So much may come at once, and then so much a second: four times what the log store takes in of one workload. */
const BURST_BYTES = 32 * 1024 * 1024
const BYTES_PER_SECOND = 4 * 1024 * 1024
const MAX_BLOCKS = 128 * 1024

/**
 * $1: bytes of a read, $2: reads, $3: bytes at once, $4: bytes a second, $5: the most blocks, $6: where the last of what
 * is dropped is put down. Standard input is the pipe, standard output the file. `dd` writes what a read gave without waiting for more, counts
 * such reads, and is at the end when there were fewer. What is dropped is read through an opening of its own that does not wait, so that
 * lines after a flood are not dropped with it, and with pauses, so that a flood costs its sender more than us.
 */
export const SPOOL_SCRIPT = `
echo -700 2>/dev/null >/proc/self/oom_score_adj
exec 3>&1
set -f
room=$3
lost=0
read -r before rest </proc/uptime
before=\${before%.*}
count() {
  reads=\${1%% records in*}
  reads=$((\${reads##*[!0-9+]}))
  set -- \${1##*out}
  bytes=\${1:-0}
}
tell() {
  [ "$lost" -gt 0 ] || return
  printf '\\nOutput came faster than it could be kept: about %s bytes before this were left out.\\n' "$lost" >&3
  cat "$6" >&3 2>/dev/null
  lost=0
}
while :; do
  read -r now rest </proc/uptime
  now=\${now%.*}
  room=$((room + (now - before) * $4))
  before=$now
  [ "$room" -le "$3" ] || room=$3
  mode=keep
  [ "$room" -gt 0 ] || mode=drop
  blocks=$(stat -L -c %b /proc/self/fd/3 2>/dev/null)
  [ "\${blocks:-0}" -lt "$5" ] || mode=drop
  if [ $mode = keep ]; then
    tell "$@"
    report=$(dd bs="$1" count="$2" 2>&1 >&3)
    status=$?
    count "$report"
    [ "$status" -ne 0 ] || [ "$reads" -eq "$2" ] || exit 0
    room=$((room - bytes))
    [ "$status" -eq 0 ] || room=0 lost=$1
  else
    report=$({ { dd if=/proc/self/fd/0 bs="$1" count="$2" iflag=nonblock 2>&4 || echo failed >&4; } | tail -c 65536 >"$6"; } 4>&1)
    count "$report"
    lost=$((lost + bytes))
    [ "$reads" -eq "$2" ] || [ "\${report%failed}" != "$report" ] || break
    sleep 0.05
  fi
done
tell "$@"
`

const SPOOL_LIMITS = [READ_BYTES, READS, BURST_BYTES, BYTES_PER_SECOND, MAX_BLOCKS]

export interface Spool {
  writeEnd: number
  close(): void
}

export function openSpool(records: Records, id: string, outputPath: string): Spool {
  const pipe = openPipe()
  try {
    const argv = ['/bin/sh', '-c', SPOOL_SCRIPT, 'cpd-spool', ...SPOOL_LIMITS.map(String), join(records.dirOf(id), 'spool-tail')]
    const streams = { stdin: pipe.readEnd, stdout: { appendTo: outputPath } }
    const child = spawnProcess(argv, { cwd: '/', env: { PATH: SYSTEM_PATH, LC_ALL: 'C' }, ...streams, detached: true })
    child.unref()
    records.noteSpool(id, child.pid)
    return pipe
  } catch (error) {
    pipe.close()
    throw error
  }
}

/** Somebody outside of the workload may have been handed the pipe, and keep it. */
const DRAIN_DEADLINE_MS = 3000

/** To be called when all processes of a workload are gone. Resolves when everything that it wrote is in its file. */
export async function drainSpool(records: Records, workload: Workload): Promise<void> {
  const spool = records.spoolOf(workload)
  if (spool === undefined || (await isTrueWithin(() => !isAlive(spool), DRAIN_DEADLINE_MS))) return
  if (isAlive(spool)) signalProcess(-spool.pid, 'SIGKILL')
}
