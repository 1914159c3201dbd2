// The way into a thread of the index. Plain JavaScript on purpose: a thread does not inherit the cache of compiled code, and
// without it each start would load a TypeScript compiler.
import module from 'node:module';
import { workerData } from 'node:worker_threads';

if (workerData.compileCache !== undefined) module.enableCompileCache(workerData.compileCache);
await import('./thread-main.ts');
module.flushCompileCache();
