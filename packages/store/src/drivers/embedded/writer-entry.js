// The way into the writer's thread. Plain JavaScript on purpose: a thread does not inherit the cache of compiled code, and
// without it each start would load a TypeScript compiler, which takes longer and more memory than everything else there.
import module from 'node:module';
import { workerData } from 'node:worker_threads';

if (workerData.compileCache !== undefined) module.enableCompileCache(workerData.compileCache);
await import('./writer-thread.ts');
module.flushCompileCache();
