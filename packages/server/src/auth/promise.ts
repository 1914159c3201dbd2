/** For results that are usually synchronous: awaiting them would cost each request a microtask turn. */
export const isPromise = <T>(value: T | Promise<T>): value is Promise<T> => value instanceof Promise;
