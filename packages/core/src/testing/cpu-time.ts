/** testing: what work takes of the processor, for tests that bound it: other than the time that passes, it is the same on a busy machine. */

/** Begins to measure; each call of the result tells the milliseconds of this thread since then. */
export function cpuTime(): () => number {
  const before = process.threadCpuUsage();
  return () => {
    const { user, system } = process.threadCpuUsage(before);
    return (user + system) / 1_000;
  };
}
