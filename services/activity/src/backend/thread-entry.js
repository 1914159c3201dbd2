// The way into a thread of the service. Plain JavaScript on purpose: a thread does not inherit the cache of compiled code.
import module from 'node:module';
import { workerData } from 'node:worker_threads';

if (workerData.compileCache !== undefined) module.enableCompileCache(workerData.compileCache);
await import('./thread.ts');
module.flushCompileCache();
