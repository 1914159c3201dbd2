/** The cost of the controller manager with N clusters: a row of the table, the same for each engine. */

export interface Cost {
  readonly processes: number;
  readonly residentMiB: number;
  /** Proportional set size: shared memory of the same program is not counted repeatedly. */
  readonly proportionalMiB: number;
  /** Share of one core, while idle. */
  readonly cpu: number;
}

export interface Row {
  readonly engine: 'kube' | 'essential';
  readonly clusters: number;
  /** From the start of the process until all clusters are served. */
  readonly readyMs: number;
  readonly parent: Cost;
  /** Processes that run for clusters beside it; absent: none. */
  readonly children?: Cost;
  /** From the answer to the DELETE of a small namespace until it is gone, in one of the clusters; the median. */
  readonly reactMs: number;
  /** Memory of the process for one more idle cluster, in KiB; absent: clusters have separate processes. */
  readonly idleClusterKiB?: number;
}
