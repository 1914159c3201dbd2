/** For what is usually known at once: waiting for it would cost each request a turn. */
export const isPromise = <T>(value: T | Promise<T>): value is Promise<T> => value instanceof Promise;
