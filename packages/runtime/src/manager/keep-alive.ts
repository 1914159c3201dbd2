/**
 * Keeps the process alive while a manager runs. Timers of the clock do not, and sockets only while they are open: a manager without a port
 * that waits to reconnect to its server would exit.
 */

export function keepAlive(): Disposable {
  const { port1 } = new MessageChannel();
  port1.ref();
  return { [Symbol.dispose]: () => port1.close() };
}
