/** Writes the hosts file of a pod: atomically, one write at a time, and only when it changes. */

import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

export class HostsWriter {
  readonly #folder: string;
  #last: Promise<void> = Promise.resolve();
  #text: string | undefined;

  /** The file is `hosts` in this folder. */
  constructor(folder: string) {
    this.#folder = folder;
  }

  /** `render` is called when all earlier writes are complete. */
  write(render: () => string): Promise<void> {
    // A new pod writes its file while a change of the network writes the files of all pods.
    this.#last = this.#last.catch(() => {}).then(() => this.#replace(render()));
    return this.#last;
  }

  /** Resolves when no write is pending. Never rejects. */
  async settled(): Promise<void> {
    await this.#last.catch(() => {});
  }

  async #replace(text: string): Promise<void> {
    if (text === this.#text) return;
    await mkdir(this.#folder, { recursive: true, mode: 0o755 });
    const next = join(this.#folder, 'hosts.next');
    await writeFile(next, text, { mode: 0o644 });
    await rename(next, join(this.#folder, 'hosts'));
    this.#text = text;
  }
}
