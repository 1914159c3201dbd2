/** A CustomResourceDefinition, served before a test goes on. */

import { parseYaml } from '@hangar/api/yaml';
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

interface GivenDefinition {
  readonly metadata: { readonly name?: string };
  readonly spec: object;
}

/** Creates or changes it by apply; resolves when its objects are served. The text of its file, or what that is parsed. */
export async function installCrd(
  client: Client,
  definition: string | GivenDefinition,
  { clock = systemClock, timeoutMs = 30_000 }: InstallOptions = {},
): Promise<Definition> {
  const given = typeof definition === 'string' ? (parseYaml(definition).value as GivenDefinition) : definition;
  const { name } = given.metadata;
  assert(name !== undefined, 'a definition without a name');
  const applied = given as ApplyConfiguration<Definition>;
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
