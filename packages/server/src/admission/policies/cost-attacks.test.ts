/** A user who may write policies must not be able to stop the server with one. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { cpuTime } from '@hangar/core/testing';
import { configMap, configMaps, TestServer } from '../../testing/test-server.ts';
import { inForce } from './testing/policy-server.ts';

const refused = async (server: TestServer, data: Record<string, string>): Promise<string> =>
  (await server.expect(422, 'POST', configMaps, { body: configMap('a', data) })).message;

describe('expressions that would cost too much', () => {
  const text = 'x'.repeat(1_000);
  const long = 'x'.repeat(900_000);
  const doubled = (count: number): object[] => [
    { name: 'v0', expression: 'object.data.a' },
    ...Array.from({ length: count }, (_, i) => ({
      name: `v${i + 1}`,
      expression: `variables.v${i} + variables.v${i}`,
    })),
  ];
  const attacks: readonly (readonly [name: string, policy: object])[] = [
    ['texts that double', { variables: doubled(40), validations: [{ expression: 'variables.v40.size() > 0' }] }],
    [
      'loops in loops',
      {
        validations: [
          {
            expression:
              '[1,2,3,4,5,6,7,8,9,10].all(a, [1,2,3,4,5,6,7,8,9,10].all(b, [1,2,3,4,5,6,7,8,9,10].all(c, [1,2,3,4,5,6,7,8,9,10].all(d, [1,2,3,4,5,6,7,8,9,10].all(e, [1,2,3,4,5,6,7,8,9,10].all(f, [1,2,3,4,5,6,7,8,9,10].all(g, true)))))))',
          },
        ],
      },
    ],
    [
      'loops over characters',
      {
        validations: [
          {
            expression:
              "object.data.a.split('').all(x, object.data.a.split('').all(y, object.data.a.split('').all(z, true)))",
          },
        ],
      },
    ],
    [
      'lists that grow',
      {
        validations: [
          {
            expression:
              "object.data.a.split('').map(x, object.data.a.split('')).map(x, object.data.a.split('')).size() > object.data.a.split('').map(x, object.data.a.split('').map(y, [x, y])).size()",
          },
        ],
      },
    ],
    [
      'texts that are replaced by longer ones',
      {
        variables: [
          { name: 'a', expression: "object.data.a.replace('x', object.data.a)" },
          { name: 'b', expression: "variables.a.replace('x', variables.a)" },
        ],
        validations: [{ expression: 'variables.b.size() == 0' }],
      },
    ],
    [
      'sizes of long texts',
      {
        validations: [
          {
            expression:
              `[${'1,'.repeat(9)}1]` +
              Array.from({ length: 5 }, (_, i) => `.all(x${i}, [1,2,3,4,5,6,7,8,9,10]`).join('') +
              '.all(y, object.data.long.size() > 0)' +
              ')'.repeat(5),
          },
        ],
      },
    ],
    [
      'long texts without a loop',
      {
        validations: [
          {
            expression: `[1, 2, 3, 4, 5, 6, 7, 8, 9].all(x, (${Array.from({ length: 240 }, () => 'object.data.long.size() > 0').join(' && ')}))`,
          },
        ],
      },
    ],
    [
      'lists that double',
      {
        variables: [
          { name: 'v0', expression: "object.data.a.split('')" },
          ...Array.from({ length: 40 }, (_, i) => ({
            name: `v${i + 1}`,
            expression: `dyn(variables.v${i}) + dyn(variables.v${i})`,
          })),
        ],
        validations: [{ expression: 'variables.v40.size() > 0' }],
      },
    ],
    [
      'regular expressions',
      {
        validations: [
          {
            expression:
              "object.data.a.split('').all(x, object.data.a.split('').all(y, !object.data.a.matches('(x+x+)+y')))",
          },
        ],
      },
    ],
    [
      'formatted texts',
      {
        variables: [
          {
            name: 'a',
            expression:
              "'%s%s%s%s%s%s%s%s'.format([object.data.a, object.data.a, object.data.a, object.data.a, object.data.a, object.data.a, object.data.a, object.data.a])",
          },
          {
            name: 'b',
            expression:
              "'%s%s%s%s%s%s%s%s'.format([variables.a, variables.a, variables.a, variables.a, variables.a, variables.a, variables.a, variables.a])",
          },
        ],
        validations: [{ expression: "variables.b.split('').map(x, variables.b).join('').size() == 0" }],
      },
    ],
    [
      'hundreds of variables',
      {
        variables: Array.from({ length: 300 }, (_, i) => ({
          name: `v${i}`,
          expression: "object.data.a.split('').exists(x, object.data.a.split('').exists(y, y == 'z'))",
        })),
        validations: [{ expression: Array.from({ length: 120 }, (_, i) => `variables.v${i}`).join(' || ') }],
      },
    ],
    [
      'many questions',
      {
        validations: [
          { expression: "object.data.a.split('').all(x, authorizer.group(x).resource('a').check('get').allowed())" },
        ],
      },
    ],
  ];

  for (const [name, policy] of attacks) {
    test(`end at the limit: ${name}`, async () => {
      await using server = await TestServer.start();
      await inForce(server, 'Validating', 'p', { policy });
      const takenMs = cpuTime();
      const message = await refused(server, { a: text, long });
      const cpuMs = takenMs();
      assert.match(
        message,
        /cost limit exceeded|running out of cost budget|longer than \d+ characters|more than \d+ elements|operation interrupted/,
      );
      assert.ok(cpuMs < 1_500, `${cpuMs} ms`);
    });
  }

  test('leave turns to others between policies', async () => {
    await using server = await TestServer.start();
    const costly = {
      validations: [{ expression: "object.data.a.split('').all(x, object.data.a.split('').all(y, x == y))" }],
    };
    for (let i = 0; i < 8; i++) await inForce(server, 'Validating', `p${i}`, { policy: costly });
    let turns = 0;
    const turn = (): void => void (turns++, (timer = setImmediate(turn)));
    let timer = setImmediate(turn);
    await refused(server, { a: text });
    clearImmediate(timer);
    assert.ok(turns >= 4, `${turns} turns`);
  });
});
