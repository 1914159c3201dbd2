/** What the controller manager costs with so many clusters: a line of the table, the same for each engine. */

export interface Cost {
  readonly processes: number;
  readonly residentMiB: number;
  /** With its share of what processes share: the same program twenty times is not counted twenty times. */
  readonly proportionalMiB: number;
  /** Of one core, as a share, while nobody asks for anything. */
  readonly cpu: number;
}

export interface Row {
  readonly engine: 'kube' | 'essential';
  readonly clusters: number;
  /** From the start of the process until all clusters are served. */
  readonly readyMs: number;
  readonly parent: Cost;
  /** What runs for clusters beside it; absent: nothing does. */
  readonly children?: Cost;
  /** From the answer to the DELETE of a small namespace until it is gone, in one of the clusters; the median. */
  readonly reactMs: number;
  /** What one more idle cluster takes of the process's memory, in KiB; absent: it is processes of its own that it takes. */
  readonly idleClusterKiB?: number;
}
