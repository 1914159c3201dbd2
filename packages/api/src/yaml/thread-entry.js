// The way into the thread. Plain JavaScript, so that the cache of compiled code is in use before any TypeScript is loaded.
import module from 'node:module';
import { workerData } from 'node:worker_threads';

if (workerData.compileCache !== undefined) module.enableCompileCache(workerData.compileCache);
await import('./thread-parse.ts');
module.flushCompileCache();
