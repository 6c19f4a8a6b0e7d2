import { spawn } from 'node:child_process'
import { once } from 'node:events'

/**
 * A small shell minds each job, in a session of its own: the job outlives the process that started it, and what it ended with is
 * there for the next one. Whoever names the shell's file first is the one that runs the job, so that of two starts one does.
 * `shell` and `job` hold what the kernel says of either process, by which they are told from others that have their numbers
 * later. What a job has started ends with it.
 */
const script = `
claim=shell.$$
{ read -r self < /proc/$$/stat; } 2> /dev/null || self=$$
printf '%s\\n' "$self" > "$claim" && ln "$claim" shell 2> /dev/null
won=$?
rm -f "$claim"
[ "$won" -eq 0 ] || exit 75
"$@" < /dev/null >> log 2>&1 &
job=$!
{ read -r stat < "/proc/$job/stat"; } 2> /dev/null || stat=$job
printf '%s\\n' "$stat" > job.new && mv job.new job
wait "$job"
printf '%s\\n' $? > ended.new && mv ended.new ended
kill -KILL 0
`

/** Resolves when the shell runs. @throws why it could not be started */
export const startShell = async (
  folder: string,
  words: ReadonlyArray<string>,
  environment: { readonly [name: string]: string },
): Promise<void> => {
  const child = spawn('/bin/sh', ['-c', script, 'leasehold-job', ...words], {
    cwd: folder,
    detached: true,
    stdio: 'ignore',
    env: environment,
  })
  await once(child, 'spawn')
  child.unref()
}
