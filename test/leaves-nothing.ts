/**
 * Fails a file of tests that leaves something running: a timer, a server, a connection, a process. Parallel workers end
 * by force, so nothing else would show it. The file also says which test it runs, for .ci/run, which ends what hangs.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import { setTimeout as delay, setImmediate } from 'node:timers/promises';

/** What ends by itself has this long. Nothing is checked where it is not set. */
const MOST_MS = Number(process.env.TEST_ENDS_WITHIN_MS ?? Number.NaN);

/** Where each worker writes which test it runs; none outside of .ci/run. */
const folder = process.env.TEST_RUNNING;
const running = folder === undefined ? undefined : `${folder}/${process.pid}`;

/** What the worker had before the file: the channel to the main process, and what a file before it was blamed for. */
let before: { resources: Readonly<Record<string, number>>; processes: readonly string[] };

/** The main process of the run keeps PostgreSQL and the service, until the end of the run. */
const isWorker = process.argv[1]?.endsWith('/mocha/lib/nodejs/worker.cjs');

export const mochaHooks = isWorker
  ? {
      async beforeAll(this: Mocha.Context) {
        // The timer of this hook is counted, as that of the last one will be; no other timer is.
        await setImmediate();
        before = { resources: countResources(), processes: childProcesses() };
        say(fileOf(this));
      },
      beforeEach(this: Mocha.Context) {
        say(`${fileOf(this)}: ${this.currentTest?.fullTitle()}`);
      },
      async afterAll(this: Mocha.Context) {
        say(`${fileOf(this)}: what ends by itself after its tests`);
        const left = !Number.isNaN(MOST_MS) && havePassed(this.test?.parent) ? await whatIsLeft() : [];
        if (running !== undefined) rmSync(running, { force: true });
        assert.deepEqual(left, [], `${fileOf(this)} leaves this running`);
      },
    }
  : {};

/** The file of the root suite, to which the hooks of this file belong. */
function fileOf({ test }: Mocha.Context): string {
  const root = test?.parent;
  return relative('.', root?.suites[0]?.file ?? root?.tests[0]?.file ?? 'a file without tests');
}

/** One that fails, or whose hook does, may leave what it would have closed, which says no more than its failure. */
function havePassed(suite: Mocha.Suite | undefined): boolean {
  if (suite === undefined) return true;
  return suite.tests.every((test) => test.state === 'passed' || test.isPending()) && suite.suites.every(havePassed);
}

function say(what: string): void {
  if (running !== undefined) writeFileSync(running, `${what}\n`);
}

/** Waits until the process has only what it had before, and returns what it has besides when that takes too long. */
async function whatIsLeft(): Promise<string[]> {
  for (const sinceMs = performance.now(); ; ) {
    await setImmediate();
    const left = [...moreResources(), ...childProcesses().filter((each) => !before.processes.includes(each))];
    if (left.length === 0 || performance.now() - sinceMs >= MOST_MS) return left;
    await delay(100);
  }
}

function countResources(): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const name of process.getActiveResourcesInfo()) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}

function moreResources(): string[] {
  return Object.entries(countResources()).flatMap(([name, count]) => {
    const more = count - (before.resources[name] ?? 0);
    return more > 0 ? `${more} ${name}` : [];
  });
}

/** Processes that this one has started and that have not ended. Linux only. */
function childProcesses(): string[] {
  return listProcesses().flatMap((pid) => {
    const [, parent] = /\) [^Z] (\d+)/.exec(readProcess(pid, 'stat')) ?? [];
    if (Number(parent) !== process.pid) return [];
    return `process ${pid}: ${readProcess(pid, 'cmdline').replaceAll('\0', ' ')}`;
  });
}

function listProcesses(): string[] {
  try {
    return readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  } catch {
    return [];
  }
}

function readProcess(pid: string, what: string): string {
  try {
    return readFileSync(`/proc/${pid}/${what}`, 'utf8');
  } catch {
    return '';
  }
}
