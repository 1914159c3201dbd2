/** The findings of one pass over a namespace, from which its conditions are computed. */

/** A resource as in messages of Kubernetes: `pods.`, `deployments.apps`. */
export interface Remaining {
  readonly resource: string;
  readonly count: number;
}

export class Findings {
  /** Group-versions whose discovery failed. */
  discoveryProblem: string | undefined;
  readonly contentProblems: string[] = [];
  readonly remaining: Remaining[] = [];
  /** Number of remaining objects by finalizer. */
  readonly finalizers = new Map<string, number>();
  /** Estimated time until the remaining objects are deleted. */
  estimateSeconds = 0;

  get remainingCount(): number {
    return this.remaining.reduce((sum, { count }) => sum + count, 0);
  }

  get isFailed(): boolean {
    return this.discoveryProblem !== undefined || this.contentProblems.length > 0;
  }

  remains(resource: string, count: number, finalizers: ReadonlyMap<string, number>): void {
    this.remaining.push({ resource, count });
    for (const [name, some] of finalizers) this.finalizers.set(name, (this.finalizers.get(name) ?? 0) + some);
  }

  mayTake(seconds: number): void {
    this.estimateSeconds = Math.max(this.estimateSeconds, seconds);
  }
}
