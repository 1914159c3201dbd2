/** Records the events of a handler, and checks that they are possible. */

import type { ApiObject } from '@hangar/client';
import type { EventHandler } from '@hangar/runtime';

export class History implements EventHandler {
  /** Versions by name. */
  readonly known = new Map<string, string>();
  readonly contradictions: string[] = [];

  onAdd({ metadata: { name = '', resourceVersion = '' } }: ApiObject): void {
    if (this.known.has(name)) this.contradictions.push(`${name} was added again`);
    this.known.set(name, resourceVersion);
  }

  onUpdate(before: ApiObject, { metadata: { name = '', resourceVersion = '' } }: ApiObject): void {
    const known = this.known.get(name);
    if (known !== before.metadata.resourceVersion) this.contradictions.push(`${name} was ${known}`);
    this.known.set(name, resourceVersion);
  }

  onDelete({ metadata: { name = '' } }: ApiObject): void {
    if (!this.known.delete(name)) this.contradictions.push(`${name} was deleted without being there`);
  }
}
