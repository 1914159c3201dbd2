import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { User } from '../../../auth/user.ts';
import { isStreaming, nobody } from '../../../http/message.ts';
import { planePath, tenants, TenancyServer } from '../../../testing/tenancy-server.ts';
import { virtualClock } from '../../../testing/test-server.ts';
import { FeedRecorder } from '../testing.ts';
import { feedTarget, followed, HttpFeed, readers } from './testing.ts';

describe('the right to it', () => {
  test('is needed: for who has it not it is 403, for who shows nothing that is known 401', async () => {
    await using server = await TenancyServer.open(readers);
    await server.make('red');
    for (const method of ['GET', 'POST', 'HEAD']) {
      const body = method === 'POST' ? { body: {} } : {};
      await server.expect(403, method, feedTarget, { token: 'somebody', ...body });
      await server.expect(401, method, feedTarget, { token: 'nobody', ...body });
    }
  });

  test('is nobody’s who has no name, whatever a policy says', async () => {
    await using server = await TenancyServer.open(readers);
    await server.expect(401, 'GET', feedTarget, { token: null });
    await server.expect(401, 'POST', feedTarget, { token: null, body: { session: '', retell: [] } });
  });

  test('to follow is not the right to ask', async () => {
    await using server = await TenancyServer.open(readers);
    const feed = new HttpFeed(server, { token: 'looker' });
    await using recorder = await followed(server, feed);
    assert.equal((await feed.post([], { token: 'looker' })).status, 403);
    assert.ok(recorder);
  });

  test('is about the star, however it is written, and there is no feed of one tenant', async () => {
    await using server = await TenancyServer.open(readers);
    await server.make('red');
    for (const star of ['%2a', '%2A']) {
      await server.expect(403, 'GET', `${tenants}/${star}/feed`, { token: 'somebody' });
      const { status, body } = await server.answer('GET', `${tenants}/${star}/feed`, { token: 'reader' });
      assert.equal(status, 200);
      assert.ok(isStreaming(body));
      body.start(nobody);
    }
    for (const name of ['red', '**', '%252a', '*%00', '%20*', 'r*']) {
      await server.expect(403, 'GET', `${tenants}/${name}/feed`, { token: 'reader' });
      await server.expect(404, 'GET', `${tenants}/${name}/feed`);
      await server.expect(404, 'POST', `${tenants}/${name}/feed`, { body: { session: '', retell: [] } });
    }
    for (const path of [`${tenants}/*/feed/more`, `${tenants}/*/feeds`, `${tenants}/*/Feed`]) {
      await server.expect(404, 'GET', path);
    }
    for (const method of ['PUT', 'PATCH', 'DELETE']) {
      await server.expect(405, method, feedTarget, { body: {} });
    }
  });

  test('is of the management plane: there is no such path in a tenant, in all of them, or by a tenant’s host', async () => {
    await using server = await TenancyServer.open();
    await server.make('red', { hosts: ['red.example.com'] });
    for (const plane of [planePath('red'), '/projects/red/control-plane', planePath('*'), planePath('%2a')]) {
      for (const star of ['*', '%2a', 'red']) {
        for (const method of ['GET', 'POST']) {
          const { status } = await server.request(method, `${plane}${tenants}/${star}/feed`, { body: {} });
          // The wildcard view does not serve single objects, nor their subresources.
          assert.equal(status, plane.includes('red') ? 404 : 405, `${method} ${plane}`);
        }
      }
    }
    await server.expect(404, 'GET', feedTarget, { headers: { host: 'red.example.com' } });
  });

  test('ends the stream within a minute when it is taken away, or nobody can say whether it is there', async () => {
    for (const verdict of ['no opinion', 'failing'] as const) {
      const clock = virtualClock();
      let isTaken = false;
      const authorize = () => {
        if (isTaken && verdict === 'failing') throw new Error('the authorizer is away');
        return isTaken ? ('no opinion' as const) : ('allow' as const);
      };
      const server = await clock.run(TenancyServer.open({ clock, authorizers: [{ authorize }] }));
      const feed = new HttpFeed(server);
      const recorder = new FeedRecorder(feed);
      await clock.run(recorder.until(() => recorder.told.includes('synced')));
      await clock.advance(150_000);
      assert.equal(feed.sink.isClosed, false);
      isTaken = true;
      await clock.advance(60_500);
      assert.equal(feed.sink.isClosed, true, verdict);
      await clock.run(recorder[Symbol.asyncDispose]());
      await clock.run(server[Symbol.asyncDispose]());
    }
  });

  test('ends the stream within a minute when what the reader showed is no longer good for it, whoever it acts as', async () => {
    /** Owner of the token; may impersonate other users. */
    const servant: User = { name: 'servant', uid: '1', groups: [], extra: {} };
    for (const [how, becomes] of [
      ['is nobody’s any more', undefined],
      ['is another’s', { ...servant, name: 'thief' }],
      ['is that of another with the same name', { ...servant, uid: '2' }],
      ['may not act as others any more', { ...servant, groups: ['dismissed'] }],
      ['is what it was', servant],
    ] as const) {
      for (const asReader of [true, false]) {
        const clock = virtualClock();
        let holder: User | undefined = servant;
        const authorize = (user: { name: string; groups: readonly string[] }, { verb }: { verb: string }) => {
          if (user.groups.includes('dismissed')) return 'no opinion' as const;
          const mayFollow = asReader ? user.name === 'reader' : user.name !== 'reader';
          return verb.startsWith('impersonate') || mayFollow ? ('allow' as const) : ('no opinion' as const);
        };
        const server = await clock.run(
          TenancyServer.open({
            clock,
            authorizers: [{ authorize }],
            authentication: () => ({
              authenticators: [{ authenticate: (request) => (request.header('x-own') ? holder : undefined) }],
            }),
          }),
        );
        const headers = { 'x-own': 'yes', ...(asReader ? { 'impersonate-user': 'reader' } : {}) };
        const feed = new HttpFeed(server, { token: null, headers });
        const recorder = new FeedRecorder(feed);
        await clock.run(recorder.until(() => recorder.told.includes('synced')));
        await clock.advance(150_000);
        assert.equal(feed.sink.isClosed, false);
        holder = becomes;
        await clock.advance(60_500);
        assert.equal(feed.sink.isClosed, becomes !== servant, `${how}, ${asReader ? 'as another' : 'as itself'}`);
        await clock.run(recorder[Symbol.asyncDispose]());
        await clock.run(server[Symbol.asyncDispose]());
      }
    }
  });
});
