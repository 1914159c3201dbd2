/** For tests: a real kube-apiserver that serves the sample definitions, in discovery and in its documents. */

import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { startRealServer } from '../../testing/real-server.ts';
import type { RealServer } from '../../testing/real-server.ts';
import { sampleDefinitions } from './samples.ts';

const publishedWithinMs = 30_000;

export async function serveSamples(): Promise<RealServer> {
  const server = await startRealServer();
  try {
    for (const definition of sampleDefinitions) {
      const body = JSON.stringify({
        apiVersion: 'apiextensions.k8s.io/v1',
        kind: 'CustomResourceDefinition',
        ...definition,
      });
      const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
      const answer = await server.request('POST', path, { body });
      assert.equal(answer.status, 201, answer.body.toString());
    }
    await published(server);
    return server;
  } catch (error) {
    await server[Symbol.asyncDispose]();
    throw error;
  }
}

/** The aggregator reads custom groups and their documents only now and then. */
async function published(server: RealServer): Promise<void> {
  const deadlineMs = Date.now() + publishedWithinMs;
  const aggregated = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
  const signs: [path: string, accept: string, texts: string[]][] = [
    ['/apis', 'application/json', ['"another.dev/v1alpha1"', '"example.org/v1beta1"']],
    ['/apis', aggregated, ['"apples"', '"gadgets"', '"widgets"']],
    ['/apis/example.org/v1', 'application/json', ['"gadgets"', '"widgets"']],
    ['/openapi/v3', 'application/json', ['apis/another.dev/v1alpha1', 'apis/example.org/v1beta1']],
    ['/openapi/v3/apis/example.org/v1', 'application/json', ['GadgetCollection', 'WidgetList']],
    [
      '/openapi/v2',
      'application/json',
      ['dev.another.v1alpha1.Apple', 'org.example.v1.Gadget', 'org.example.v1.Widget'],
    ],
  ];
  for (const [path, accept, texts] of signs) {
    for (;;) {
      const { body } = await server.request('GET', path, { accept });
      if (texts.every((text) => body.includes(text))) break;
      assert.ok(Date.now() < deadlineMs, `${path} has no ${texts.join(', ')}`);
      await sleep(200);
    }
  }
}
