import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findingsOf, textOf } from './findings.ts';
import type { Segment } from './segment.ts';

const rulesFor = (text: string, kind: Segment['kind'] = 'string'): string[] =>
  findingsOf('f', text, [{ kind, start: 0, text }]).map(({ rule }) => rule);

const banned: Record<string, [kind: Segment['kind'], text: string][]> = {
  'possessive as predicate': [
    ['string', 'path "x" is control plane x\'s'],
    ['comment', "The range is the tenant's, and stays."],
  ],
  'vague failure': [
    ['string', 'something went wrong, it is tried again'],
    ['comment', 'Look again then; then this look is over, too'],
    ['string', 'something failed unattended'],
  ],
  'headless opener': [
    ['comment', 'What is idle is given back.'],
    ['comment', 'Who makes a request.'],
    ['comment', 'Returns it. Whoever holds it closes it.'],
    ['paragraph', 'Where a cluster is and who we are there.'],
    ['string', 'what happens in its Hangar is being read'],
  ],
  'needs as requirement': [['string', 'mode Dedicated needs dedicated']],
  'what there is': [
    ['string', 'the tenant is deleted; and all that was in it'],
    ['paragraph', 'It lists what there is.'],
    ['comment', 'The queue decides whose it is.'],
  ],
  'end as verb': [
    ['string', 'ended, since ownership was lost'],
    ['comment', 'Removes the folder at its end.'],
  ],
  'odd idiom': [
    ['string', 'a window does not grow by nothing'],
    ['string', 'it may not be run here any more'],
    ['paragraph', 'Every tenant is born with it.'],
  ],
  'is no X': [
    ['string', '"x" is no flag'],
    ['comment', 'They are no\n   numbers.'],
  ],
  'indefinite agent': [
    ['string', 'nobody waits in this flow'],
    ['comment', 'Closed by whoever opened it.'],
  ],
  'personified: told': [
    ['paragraph', 'The registry is told.'],
    ['comment', 'The store tells the server.'],
  ],
  'personified: asked': [['paragraph', 'The API server is asked.']],
  'personified: belief': [
    ['comment', 'The server believes the header.'],
    ['comment', 'An operator hears of it and says so.'],
  ],
  anew: [['string', 'opened anew']],
  'of its own': [['paragraph', 'An API of its own.']],
  'goes on': [['comment', 'The watch goes on.']],
  'given back': [['comment', 'The slot is given back.']],
};

for (const [rule, texts] of Object.entries(banned)) {
  for (const [kind, text] of texts) {
    test(`${rule}: ${JSON.stringify(text)} in a ${kind} is found`, () => {
      assert.ok(rulesFor(text, kind).includes(rule), `found: ${rulesFor(text, kind).join(', ')}`);
    });
  }
}

const plain: [kind: Segment['kind'], text: string][] = [
  ['string', 'cluster path "x" is already used by ControlPlane "x"'],
  ['string', 'reconcile failed, retrying: connection refused'],
  ['comment', 'Observed state.'],
  ['comment', 'Desired state.'],
  ['string', 'spec.dedicated is required when spec.mode is Dedicated'],
  ['string', 'deleted, including all data'],
  ['string', 'stopped: ownership lost'],
  ['string', 'unhandled rejection'],
  ['string', 'waiting for the tenant feed to sync'],
  ['string', 'unexpected argument'],
  ['string', 'WINDOW_UPDATE increment is zero'],
  ['comment', 'Requeue after this delay; an earlier event cancels it'],
  ['paragraph', 'There is no cache. If there are no keys, the server creates them.'],
  ['paragraph', 'The lease is no longer held.'],
  ['heading', 'What it costs'],
  ['paragraph', 'What happens when etcd is down? Writes fail.'],
  ['paragraph', 'Where TLS ends at a proxy, set the flag.'],
  ['comment', "It is the tenant's certificate authority."],
  ['comment', "Returns the server's own address."],
  ['paragraph', 'It accepts certificates of its own CA.'],
  ['comment', 'Returns what was stored under the key.'],
];

for (const [kind, text] of plain) {
  test(`${JSON.stringify(text)} in a ${kind} is plain`, () => assert.deepEqual(rulesFor(text, kind), []));
}

test('overlapping matches are one finding', () => {
  assert.deepEqual(rulesFor('Whoever holds it closes it.', 'comment'), ['headless opener']);
});

test('a quotation of Kubernetes is not a finding, its surroundings are', () => {
  const text = 'opened anew: the server has asked for the client';
  const quotation = { text: 'the server has asked for', reason: 'Kubernetes' };
  const used: string[] = [];
  const found = findingsOf('f', text, [{ kind: 'string', start: 0, text }], [quotation], ({ reason }) =>
    used.push(reason),
  );
  assert.deepEqual(
    found.map(({ rule }) => rule),
    ['anew'],
  );
  assert.deepEqual(used, ['Kubernetes']);
});

test('a finding is printed with file, line, excerpt, rule and suggestion', () => {
  const text = 'First line.\nIt is opened anew.';
  const [found] = findingsOf('docs/x.md', text, [{ kind: 'paragraph', start: 0, text }]);
  assert.equal(
    textOf(found!),
    'docs/x.md:2: "First line. It is opened anew.": anew: again; or name the act: recreate, reconnect, relist',
  );
});
