/** The milliseconds of CPU that this process has used: unlike time, no busy machine makes them more. */
export function cpuTime(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}
