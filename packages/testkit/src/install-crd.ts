/** A CustomResourceDefinition, served before a test goes on. */

import { CustomResourceDefinition } from '@hangar/client/kinds/apiextensions-v1';
import type { ApplyConfiguration, Client, ObjectOf } from '@hangar/client';
import { assert, sleep, systemClock } from '@hangar/core';
import type { Clock } from '@hangar/core';

type Definition = ObjectOf<typeof CustomResourceDefinition>;

export interface InstallOptions {
  readonly clock?: Clock;
  /** An assertion fails when it is not established by then. */
  readonly timeoutMs?: number;
}

const askEveryMs = 10;

/** Creates or changes it by apply; resolves when its objects are served. As it is in a file, parsed. */
export async function installCrd(
  client: Client,
  definition: { readonly metadata: { readonly name?: string }; readonly spec: object },
  { clock = systemClock, timeoutMs = 30_000 }: InstallOptions = {},
): Promise<Definition> {
  const { name } = definition.metadata;
  assert(name !== undefined, 'a definition without a name');
  const applied = definition as ApplyConfiguration<Definition>;
  await client.apply(CustomResourceDefinition, applied, { fieldManager: 'testkit', force: true });
  const endMs = clock.monotonicMs() + timeoutMs;
  for (;;) {
    const served = await client.get(CustomResourceDefinition, { name });
    if (isServed(served)) return served;
    const refused = conditionOf(served, 'NamesAccepted');
    assert(refused?.status !== 'False', `${name}: ${refused?.message}`);
    assert(clock.monotonicMs() < endMs, `${name} is not established within ${timeoutMs} ms`);
    await sleep(clock, askEveryMs);
  }
}

const conditionOf = ({ status }: Definition, type: string) =>
  status?.conditions?.find((condition) => condition.type === type);

const isServed = (definition: Definition): boolean => conditionOf(definition, 'Established')?.status === 'True';
