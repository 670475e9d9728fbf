/** One process of a deployment that can be frozen, killed and restarted. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { relative } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { ROOT } from '../../../.ci/sources.ts';
import { type ChildOptions, type Running, startChild } from '../../../services/quickstart/child.ts';
import { freeze, signal } from './freeze.ts';

export type Member = ReturnType<typeof memberOf>;

/**
 * A process whose start fails is started again for so long, as a supervisor does: what it needs may have been killed,
 * too.
 */
const AWAY_MS = 30_000;

/** Describes a process without starting it, which runs the code of a tree: by default this one. */
export function memberOf(options: ChildOptions, own = ROOT) {
  let tree = own;
  const never = new AbortController().signal;
  let running: Running | undefined;
  const pid = async () => Number(await readFile(`${options.dataDir}/run/${options.name}.pid`, 'utf8'));
  return {
    name: options.name,
    /** Stops it with SIGSTOP; returns a function that continues it. */
    freeze: async () => freeze([await pid()]),
    /** Kills it with -9 and waits for its exit. */
    async kill(): Promise<void> {
      signal(await pid(), 'SIGKILL');
      assert.match((await running?.exited) ?? '', /^killed by SIGKILL/, `the end of ${options.name}`);
    },
    /** Starts it, by default with the code of its last start, and waits until it is ready. */
    async start(ofTree = tree): Promise<void> {
      tree = ofTree;
      const entry = relative(ROOT, `${tree}/${options.entry}`);
      for (const latestMs = performance.now() + AWAY_MS; ; await delay(500)) {
        try {
          running = await startChild({ ...options, entry }, never);
          return;
        } catch (error) {
          if (performance.now() > latestMs) throw error;
        }
      }
    },
    /** The folder whose code it runs. */
    tree: () => tree,
    /** Stops it with SIGTERM. Returns how it ended. */
    async stop(): Promise<string> {
      await running?.stop();
      return (await running?.exited) ?? '';
    },
  };
}
