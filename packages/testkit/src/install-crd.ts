/** Installs CustomResourceDefinitions in tests. */

import { parseYaml } from '@hangar/api/yaml';
import { CustomResourceDefinition } from '@hangar/client/kinds/apiextensions-v1';
import type { ApplyConfiguration, Client, ObjectOf } from '@hangar/client';
import { assert, sleep, systemClock } from '@hangar/core';
import type { Clock } from '@hangar/core';

type Definition = ObjectOf<typeof CustomResourceDefinition>;

/** Options of `installCrd`. */
export interface InstallOptions {
  /** Clock for the timeout. Absent: the system clock. */
  readonly clock?: Clock;
  /** Maximum time until the CustomResourceDefinition is established; an assertion fails after it. Absent: 30 s. */
  readonly timeoutMs?: number;
}

const askEveryMs = 10;

interface GivenDefinition {
  readonly metadata: { readonly name?: string };
  readonly spec: object;
}

/**
 * Applies a CustomResourceDefinition, given as YAML or as an object, and resolves when the server serves its objects.
 *
 *     await installCrd(cluster.client, await readFile('crds/widgets.yaml', 'utf8'));
 */
export async function installCrd(
  client: Client,
  definition: string | GivenDefinition,
  { clock = systemClock, timeoutMs = 30_000 }: InstallOptions = {},
): Promise<Definition> {
  const given = typeof definition === 'string' ? (parseYaml(definition).value as GivenDefinition) : definition;
  const { name } = given.metadata;
  assert(name !== undefined, 'the CustomResourceDefinition has no name');
  const applied = given as ApplyConfiguration<Definition>;
  await client.apply(CustomResourceDefinition, applied, { fieldManager: 'testkit', force: true });
  const endMs = clock.monotonicMs() + timeoutMs;
  for (;;) {
    const served = await client.get(CustomResourceDefinition, { name });
    if (isServed(served)) return served;
    const refused = conditionOf(served, 'NamesAccepted');
    assert(refused?.status !== 'False', `${name}: ${refused?.message}`);
    assert(clock.monotonicMs() < endMs, `${name} was not established within ${timeoutMs} ms`);
    await sleep(clock, askEveryMs);
  }
}

const conditionOf = ({ status }: Definition, type: string) =>
  status?.conditions?.find((condition) => condition.type === type);

const isServed = (definition: Definition): boolean => conditionOf(definition, 'Established')?.status === 'True';
