/** Data about the watched thread: its beats, samples of its activity, stalls. */

/** An activity as a sample saw it; texts are cut to `sampledTextMax`. */
export interface SampledActivity {
  /** The same number: the same activity. */
  readonly id: number;
  readonly tenant: string;
  readonly user: string;
  readonly verb: string;
  readonly resource: string;
  readonly isAccountable: boolean;
}

/** The state of the watched thread when it last showed that it turns. */
export interface Beat {
  readonly count: number;
  /** Of the system's monotonic clock, which all threads share. */
  readonly atMs: number;
  /** CPU time that the watched thread has used. */
  readonly cpuMs: number;
}

/** What the watched thread was doing at a moment. */
export interface Sample extends Beat {
  /** When the watchdog's thread asked for it. Much earlier than `atMs`: a native call could not be interrupted. */
  readonly askedMs: number;
  /** Used part of the heap's limit, 0 to 1. */
  readonly heapUse: number;
  /** Undefined: work of no activity. */
  readonly activity: SampledActivity | undefined;
}

/** The time that one activity took of a stall. */
export interface StallPart {
  /** Undefined: work of no activity. */
  readonly activity: SampledActivity | undefined;
  /** CPU time, and never more than the time that passed: a stopped process has used none. */
  readonly ms: number;
}

export interface Stall {
  readonly fromMs: number;
  readonly untilMs: number;
  /** Longest first. */
  readonly parts: readonly StallPart[];
}

/** The activity during which a process ended. */
export interface CrashRecord {
  readonly activity: SampledActivity;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** The activity itself ended the process: it threw, or it has filled the heap. Otherwise it was only running. */
  readonly isCertain: boolean;
  /** How the process ended, for messages. */
  readonly reason: string;
}

/** The input of the watchdog's thread. */
export interface WatchdogThreadData {
  readonly beat: SharedArrayBuffer;
  /** Undefined: nothing is journalled. */
  readonly journalFile: string | undefined;
  readonly compileCache?: string;
}

/** A global symbol of the watched thread: the function that samples it, for the watchdog's thread. */
export const sampleHook = 'hangar.watchdog.sample';
export const sampledTextMax = 256;
/** How often the watched thread shows that it turns. */
export const beatEveryMs = 50;
/** From this on a missing beat is looked into. */
export const suspectAfterMs = 50;
/** A sample that is taken so long after it was asked for waited for a native call. */
export const lateSampleMs = 20;
/** From this on it is a stall. */
export const stallMs = 100;
