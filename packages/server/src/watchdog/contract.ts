/** Data about the watched thread: its beats, samples of its activity, stalls. */

/** An activity as a sample saw it; texts are cut to `sampledTextMax`. */
export interface SampledActivity {
  /** Identifies the activity. */
  readonly id: number;
  readonly tenant: string;
  readonly user: string;
  readonly verb: string;
  readonly resource: string;
  readonly isAccountable: boolean;
}

/** The state of the watched thread at its last beat. */
export interface Beat {
  readonly count: number;
  /** Time of the system's monotonic clock, which all threads share. */
  readonly atMs: number;
  /** CPU time that the watched thread has used. */
  readonly cpuMs: number;
}

/** The activity of the watched thread at one moment. */
export interface Sample extends Beat {
  /** Time when the watchdog thread requested it. Much earlier than `atMs`: a native call could not be interrupted. */
  readonly askedMs: number;
  /** Used part of the heap's limit, 0 to 1. */
  readonly heapUse: number;
  /** Undefined: work outside of any activity. */
  readonly activity: SampledActivity | undefined;
}

/** The time that one activity took of a stall. */
export interface StallPart {
  /** Undefined: work outside of any activity. */
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

/** The activity during which a process exited. */
export interface CrashRecord {
  readonly activity: SampledActivity;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** The activity itself crashed the process: it threw, or it filled the heap. Otherwise it was only running. */
  readonly isCertain: boolean;
  /** Cause of the exit, for messages. */
  readonly reason: string;
}

/** The input of the watchdog's thread. */
export interface WatchdogThreadData {
  readonly beat: SharedArrayBuffer;
  /** Undefined: no journal. */
  readonly journalFile: string | undefined;
  readonly compileCache?: string;
}

/** A global symbol of the watched thread: the function that samples it, for the watchdog's thread. */
export const sampleHook = 'hangar.watchdog.sample';
export const sampledTextMax = 256;
/** Interval of beats. */
export const beatEveryMs = 50;
/** Delay after which a missing beat is investigated. */
export const suspectAfterMs = 50;
/** A sample with this delay after its request waited for a native call. */
export const lateSampleMs = 20;
/** Delay from which it is a stall. */
export const stallMs = 100;
