/** Cuts streams of operations repeatedly while two cores write. */
import assert from 'node:assert/strict';
import { status } from '@grpc/grpc-js';
import { contract, openStage, type Stage } from '../services/core/stage.ts';
import { chance } from './chance.ts';
import type { TortureOptions } from './options.ts';

const WRITERS = 8;

/** Cuts a watcher that resumes each time at the other core. Returns figures; throws on a gap or disorder. */
export async function tortureStreams({ seed, runs = 200 }: TortureOptions): Promise<string[]> {
  const stage = await openStage({ cores: 2 });
  try {
    const { merchants } = stage.channel('operator');
    await merchants.createMerchant({ merchantId: 'acme', name: 'Acme', contract: contract() });
    const random = chance(seed);
    const sequences: bigint[] = [];
    let token = await begin(stage);
    const writers = startWriters(stage);
    for (let cut = 0; cut < runs; cut++) {
      token = await watch(stage, cut, token, sequences, 1 + Math.floor(random() * 20));
    }
    await writers.stop();
    const rows = await stage.database.query<{ sequence: bigint }>({ name: '', text: ALL }, []);
    const all = rows.map(({ sequence }) => sequence);
    assert.deepEqual(sequences, all.slice(0, sequences.length), 'every operation once, in commit order');
    return [
      `${runs} streams cut, ${sequences.length} of ${all.length} operations seen: no gap, no disorder, none twice`,
    ];
  } finally {
    await stage.close();
  }
}

const ALL = 'select sequence from operation order by sequence';

/** Where a stream begins that is opened before anything is written: its first message says so. */
async function begin(stage: Stage): Promise<string> {
  const { operations, opened } = stage.channel('internal');
  const abort = new AbortController();
  try {
    for await (const { resumeToken } of operations.watchOperations({}, { signal: abort.signal })) return resumeToken;
    throw new Error('the stream ended without a message');
  } finally {
    abort.abort();
    opened.close();
  }
}

/** Reads a number of results from one of the cores and disconnects. Returns where to resume. */
async function watch(stage: Stage, index: number, token: string, sequences: bigint[], most: number): Promise<string> {
  const abort = new AbortController();
  const { operations, opened } = stage.channel('internal', index);
  let resumeToken = token;
  let seen = 0;
  try {
    for await (const message of operations.watchOperations({ resumeToken }, { signal: abort.signal })) {
      resumeToken = message.resumeToken;
      if (!message.operation) continue;
      sequences.push(message.operation.sequence);
      if (++seen >= most) break;
    }
  } finally {
    abort.abort();
    opened.close();
  }
  return resumeToken;
}

/** Writers at both cores: each result is an operation. */
function startWriters(stage: Stage): { stop(): Promise<void> } {
  let stopped = false;
  const common = { merchantId: 'acme', amount: 100n, currency: 'EUR', terminalId: 'T1', userId: 'u' };
  const running = Array.from({ length: WRITERS }, async (_, index) => {
    const { octs, holds } = stage.channel('internal', index);
    const write = async () => {
      await octs.createOct({ ...common, tokenId: 'tok_sandbox_ok' });
      const { preauthorization } = await holds.createPreauthorization({ ...common, tokenId: 'tok_sandbox_ok' });
      const { preauthorizationId = '' } = preauthorization ?? {};
      // Without one the outcome is not known yet.
      if (preauthorizationId === '') return;
      await holds.capturePreauthorization({ merchantId: 'acme', preauthorizationId, amountToCapture: 100n });
    };
    while (!stopped) {
      await write().catch((error) => {
        // On a busy machine; the log says what became of it.
        if (error.code !== status.UNAVAILABLE && error.code !== status.DEADLINE_EXCEEDED) throw error;
      });
    }
  });
  return {
    async stop() {
      stopped = true;
      await Promise.all(running);
    },
  };
}
