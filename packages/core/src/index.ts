/**
 * core: the dependencies that all other packages receive as parameters. Read `clock`, `random`, `disk` and `transport` for the interfaces,
 * `simulation/` for the implementations of tests.
 */

export {
  activitiesBegun,
  Activity,
  currentActivity,
  detachedClock,
  onNextActivity,
  resumed,
  runActivity,
  runForTenant,
} from './activity.ts';
export { assert, AssertionFailed, unreachable } from './assert.ts';
export { eachAtOnce, Permits } from './at-once.ts';
export { backOffMs } from './back-off.ts';
export type { BackOff } from './back-off.ts';
export { ChunkReader } from './chunk-reader.ts';
export { CleanupStack } from './cleanup-stack.ts';
export { breathe, giveWay, sleep, systemClock } from './clock.ts';
export type { Clock, Timer } from './clock.ts';
export { atOnce, inSlices, Slicer } from './slices.ts';
export type { Steps } from './slices.ts';
export { systemDisk } from './disk.ts';
export type { Disk, DiskFile } from './disk.ts';
export { abortError, asError, CodedError, hasCode } from './errors.ts';
export { Failpoints } from './failpoints.ts';
export type { FailpointAction } from './failpoints.ts';
export { giveBackMemory } from './give-back-memory.ts';
export { lazy } from './lazy.ts';
export { BoundedQueue } from './queue.ts';
export { chance, pick, seededRandom, systemRandom, uuid } from './random.ts';
export type { Random } from './random.ts';
export { systemTransport } from './transport.ts';
export type { Address, Listener, Transport } from './transport.ts';
export { Logger, logLevels } from './log.ts';
export type { LogFields, LogFormat, LogLevel, LogOptions } from './log.ts';
export { boundText, Counter, Gauge, Histogram, HistogramSeries, labelText } from './metrics.ts';
export type { CounterSeries, Labels } from './metrics.ts';
export { installTracer, isTraced, traced } from './trace.ts';
export type { TraceAttributes, Tracer } from './trace.ts';
export { aborted, attempted, orAborted, settledWithin } from './waiting.ts';
