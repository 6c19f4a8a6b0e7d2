/** Resolves when the work has ended, however it did, or when the time is up. */
export const within = async (ms: number, work: Promise<unknown>): Promise<void> => {
  let timer: NodeJS.Timeout | undefined
  const up = new Promise((resolve) => (timer = setTimeout(resolve, ms)))
  await Promise.race([work.catch(() => undefined), up])
  clearTimeout(timer)
}
