/**
 * Keeps the process alive while a manager runs. Timers of the clock do not, and sockets only while there are some: a manager that
 * waits to connect again to a server that is away, without a port of its own, would just end.
 */

export function keepAlive(): Disposable {
  const { port1 } = new MessageChannel();
  port1.ref();
  return { [Symbol.dispose]: () => port1.close() };
}
