// The entry of the watchdog's thread. Plain JavaScript: a thread does not inherit the cache of compiled code, and without it
// each start loads a TypeScript compiler.
import module from 'node:module';
import { workerData } from 'node:worker_threads';

if (workerData.compileCache !== undefined) module.enableCompileCache(workerData.compileCache);
await import('./watchdog-thread.ts');
module.flushCompileCache();
