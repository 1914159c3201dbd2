/** What one pass over a namespace found: what its conditions are made of. */

/** A resource as Kubernetes' messages name it: `pods.`, `deployments.apps`. */
export interface Remaining {
  readonly resource: string;
  readonly count: number;
}

export class Findings {
  /** Group-versions that could not be asked what they have. */
  discoveryProblem: string | undefined;
  readonly contentProblems: string[] = [];
  readonly remaining: Remaining[] = [];
  /** Of objects that remain: how many wait for each. */
  readonly finalizers = new Map<string, number>();
  /** For how long what remains may take, when nothing is wrong. */
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
