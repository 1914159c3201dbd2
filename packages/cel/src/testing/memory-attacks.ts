/** Runs in a thread whose heap is small: each attack takes many times of it, unless it is limited. */

import { parentPort } from 'node:worker_threads';
import { CelError, compile, dynType, kubernetesEnvironment, LazyMap, Regex, toJson, WorkBudget } from '../index.ts';
import type { CelValue } from '../index.ts';

const env = kubernetesEnvironment({ v: dynType, text: dynType });
const text = 'ab'.repeat(500_000);

/** Variables that are all kept until the request is over, as those of a policy are. */
function variables(sources: Readonly<Record<string, string>>): () => void {
  return () => {
    const budget = new WorkBudget();
    const compute = new Map<string, () => CelValue>();
    const v = new LazyMap('v', compute);
    for (const [name, source] of Object.entries(sources)) {
      compute.set(name, () => compile(source, env).evaluate({ v, text }, { budget }).value);
    }
    for (const name of Object.keys(sources)) {
      const value = compile(`v.${name}`, env).evaluate({ v }, { budget }).value;
      budget.run(() => toJson(value));
    }
  };
}

const many = (count: number, source: (at: number) => string): Record<string, string> =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`v${at}`, source(at)]));

const attacks: Readonly<Record<string, () => void>> = {
  'texts that double': variables(many(40, (at) => (at === 0 ? 'text' : `v.v${at - 1} + v.v${at - 1}`))),
  'long texts': variables(many(200, (at) => `text + '${at}'`)),
  'texts as lists of characters': variables(many(50, () => "text.split('')")),
  'texts as bytes': variables(many(200, () => 'bytes(text)')),
  'texts replaced by longer ones': variables(many(50, () => "text.replace('a', 'aaaaaaaa')")),
  'texts that are joined': variables(many(50, () => "lists.range(10).map(x, text).join('')")),
  'texts that are printed': variables(many(50, () => "'%s'.format([lists.range(10).map(x, text)])")),
  'ranges of numbers': variables(many(50, () => 'lists.range(1000000)')),
  'lists of lists': variables(many(50, () => 'lists.range(2000).map(x, lists.range(2000))')),
  'lists that are flattened': variables(many(50, () => 'lists.range(2000).map(x, v.l).flatten()')),
  'matches of an expression': variables(many(50, () => "text.findAll('a')")),
  'parts of a URL': variables(many(50, () => "url('/?' + text.replace('b', '&')).getQuery()")),
  'lists that share their elements': variables(many(60, (at) => (at === 0 ? '["x"]' : `[v.v${at - 1}, v.v${at - 1}]`))),
  /** Not limited to one request: cached expressions stay from request to request. */
  'states of many regular expressions': () => {
    let seed = 1;
    const letters = Array.from({ length: 950 }, () => 'ab'[(seed = (seed * 48_271) % 2_147_483_647) % 2]).join('');
    const kept = Array.from({ length: 250 }, (_, at) => new Regex(`(?:a|b)*a(?:a|b){11}d{${at}}$`));
    for (const one of kept) one.test(letters);
    for (const one of kept) one.test('a');
  },
};

for (const [name, attack] of Object.entries(attacks)) {
  try {
    attack();
  } catch (error) {
    if (!(error instanceof CelError)) throw error;
  }
  parentPort?.postMessage(name);
}
