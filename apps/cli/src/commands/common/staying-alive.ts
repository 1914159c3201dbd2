/** Keeps the process alive until `work` is complete. Timers of the clock do not. */
export async function stayingAlive<T>(work: () => Promise<T>): Promise<T> {
  const timer = setInterval(() => undefined, 2 ** 30);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}
