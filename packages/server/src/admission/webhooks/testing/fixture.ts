/** A server with a webhook: registers configurations and waits until they are in force. */

import { Outbound } from '../../../outbound/index.ts';
import { TestServer } from '../../../testing/test-server.ts';
import type { TestServerOptions } from '../../../testing/test-server.ts';
import { startWebhook } from '../../../testing/webhook-server.ts';
import type { WebhookHandler, WebhookServer } from '../../../testing/webhook-server.ts';

export const base = '/apis/admissionregistration.k8s.io/v1';

type Kind = 'Mutating' | 'Validating';

export const rule = (resource = 'configmaps', rest: object = {}): object => ({
  apiGroups: ['*'],
  apiVersions: ['*'],
  resources: [resource],
  operations: ['CREATE', 'UPDATE', 'DELETE'],
  ...rest,
});

export class WebhookFixture implements AsyncDisposable {
  readonly server: TestServer;
  readonly hook: WebhookServer;
  readonly #outbound: Outbound;

  private constructor(server: TestServer, hook: WebhookServer, outbound: Outbound) {
    this.server = server;
    this.hook = hook;
    this.#outbound = outbound;
  }

  static async start(handler: WebhookHandler, options: TestServerOptions = {}): Promise<WebhookFixture> {
    const outbound = new Outbound({ allow: ['127.0.0.0/8'] });
    const hook = await startWebhook(handler);
    return new WebhookFixture(await TestServer.start({ outbound, ...options }), hook, outbound);
  }

  webhook(name: string, rest: object = {}, path = `/${name}`): object {
    return {
      name: `${name}.example.com`,
      clientConfig: this.hook.clientConfig(path),
      rules: [rule()],
      sideEffects: 'None',
      admissionReviewVersions: ['v1'],
      ...rest,
    };
  }

  async configure(kind: Kind, name: string, webhooks: readonly object[]): Promise<void> {
    const resource = `${kind.toLowerCase()}webhookconfigurations`;
    const object = { kind: `${kind}WebhookConfiguration`, metadata: { name }, webhooks };
    await this.server.create(`${base}/${resource}`, object);
    // A write is acknowledged before watchers receive it.
    await this.settled();
  }

  /** Watchers receive changes within far fewer turns of the event loop. */
  async settled(): Promise<void> {
    for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve));
  }

  get paths(): string[] {
    return this.hook.received.map(({ path }) => path.split('?')[0]!.slice(1));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.server[Symbol.asyncDispose]();
    this.#outbound.close();
    await this.hook[Symbol.asyncDispose]();
  }
}
