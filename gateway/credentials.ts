/** The edge's live copy of who may speak: API keys (as hashes) and signing secrets of every merchant, fed by core. */
import { createHash } from 'node:crypto';
import { timestampDate } from '@bufbuild/protobuf/wkt';
import { status } from '@grpc/grpc-js';
import type { EndedSession, MerchantCredentials } from '../proto/gen/holdfast/v1/merchant_pb.js';
import { errorFields, type Log } from '../proto/log.ts';
import type { Core } from './core.ts';
import { pause } from './pause.ts';
import { isServiceError, Problem } from './problem.ts';
import { sharedRun } from './shared-run.ts';

/** Read without waiting; every answer is about the newest snapshot that core has told. */
export interface Credentials {
  /** The merchant that an API key names, if the key is live. */
  merchantOfApiKey(key: string): string | undefined;
  /** A merchant's live signing secrets, older first; undefined for an unknown merchant. */
  secretsOf(merchantId: string): readonly string[] | undefined;
  /** The public key (Ed25519, PEM) that a merchant's captures must verify with; undefined when they need not be signed. */
  captureKeyOf(merchantId: string): string | undefined;
  /** Whether a console session was ended by signing out, at any gateway; `sessionHash` is Base64. */
  isSessionEnded(sessionHash: string): boolean;
  /** False when core has said nothing for 30 s, or nothing yet: then nobody can be told from anybody. */
  isFresh(): boolean;
  /** Whether core is answering: it has spoken within the last two heartbeats. */
  isHeard(): boolean;
  /**
   * Settles when the snapshot has all that core had committed when this was called. Before a credential is refused, it may be
   * one that was created a moment ago. Unknown senders cost core one call each REFRESH_EVERY_MS, however many they are.
   * Throws UNAVAILABLE when core does not answer: then nothing is known against the credential.
   */
  refresh(): Promise<void>;
  /** Settles with the first snapshot. */
  readonly ready: Promise<void>;
  /** Calls back after each change, when keys or secrets may have ended. Answers how to stop. */
  onChange(listener: () => void): () => void;
  close(): Promise<void>;
}

/** Without news for this long a snapshot is worthless (docs/product.md, "Credentials at the gateway"). */
const STALE_AFTER_MS = 30_000;
/** Core sends a heartbeat every 5 s; two missing ones mean that the feed is dead, though its connection may not be. */
const SILENT_AFTER_MS = 12_000;
/** Between two calls for what is newer than the snapshot. */
const REFRESH_EVERY_MS = 50;
const REFRESH_TIMEOUT_MS = 1_000;
const RECONNECT_MS = { first: 100, most: 2_000 } as const;

/** Follows core's feed until closed, reconnecting by itself. */
export function watchCredentials(core: Pick<Core, 'merchants'>, log: Log, now: () => number = Date.now): Credentials {
  const closing = new AbortController();
  const listeners = new Set<() => void>();
  const first = Promise.withResolvers<void>();
  let snapshot = new Snapshot();
  let heardAtMs = Number.NEGATIVE_INFINITY;
  let waitMs: number = RECONNECT_MS.first;

  async function follow(): Promise<void> {
    while (!closing.signal.aborted) {
      try {
        await readFeed();
      } catch (error) {
        if (!closing.signal.aborted) log.warn('credentials feed lost', errorFields(error));
      }
      await pause(waitMs * (0.5 + Math.random() / 2), closing.signal);
      waitMs = Math.min(waitMs * 2, RECONNECT_MS.most);
    }
  }

  /** One connection: its whole snapshot takes the old one's place at once, then changes come merchant by merchant. */
  async function readFeed(): Promise<void> {
    const incoming = new Snapshot();
    const silence = new AbortController();
    const watchdog = setTimeout(() => silence.abort(), SILENT_AFTER_MS);
    try {
      const signal = AbortSignal.any([closing.signal, silence.signal]);
      for await (const message of core.merchants.watchCredentials({}, { signal })) {
        watchdog.refresh();
        waitMs = RECONNECT_MS.first;
        incoming.put(message, now());
        if (message.snapshotComplete) adopt(incoming, message.merchants.length + message.endedSessions.length > 0);
      }
    } finally {
      clearTimeout(watchdog);
    }
  }

  function adopt(incoming: Snapshot, hasNews: boolean): void {
    const isChange = hasNews || incoming !== snapshot;
    heardAtMs = now();
    if (incoming !== snapshot) incoming.keepEnded(snapshot);
    snapshot = incoming;
    first.resolve();
    if (isChange) for (const listener of listeners) listener();
  }

  const refresh = sharedRun(async () => {
    const news = await newerThan(core, snapshot.changeNumber);
    snapshot.put(news, now());
    if (news.merchants.length + news.endedSessions.length > 0) for (const listener of listeners) listener();
  }, REFRESH_EVERY_MS);

  const following = follow();
  return {
    merchantOfApiKey: (key) => snapshot.merchantOfHash(hashOf(key)),
    secretsOf: (merchantId) => snapshot.merchant(merchantId)?.signingSecrets,
    captureKeyOf: (merchantId) => {
      const merchant = snapshot.merchant(merchantId);
      return merchant?.requireSignedCaptures ? merchant.capturePublicKey : undefined;
    },
    isSessionEnded: (sessionHash) => snapshot.isSessionEnded(sessionHash),
    isFresh: () => now() - heardAtMs < STALE_AFTER_MS,
    isHeard: () => now() - heardAtMs < SILENT_AFTER_MS,
    refresh,
    ready: first.promise,
    onChange: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    close: async () => {
      closing.abort();
      await following;
    },
  };
}

/** What the feed and its refreshes bring. */
interface News {
  readonly merchants: readonly MerchantCredentials[];
  readonly endedSessions: readonly EndedSession[];
}

async function newerThan(core: Pick<Core, 'merchants'>, afterChangeNumber: bigint): Promise<News> {
  try {
    return await core.merchants.listCredentialChanges({ afterChangeNumber }, { timeoutMs: REFRESH_TIMEOUT_MS });
  } catch (error) {
    // A core of an earlier version: its feed is all there is.
    if (isServiceError(error) && error.code === status.UNIMPLEMENTED) return { merchants: [], endedSessions: [] };
    throw new Problem('UNAVAILABLE', { detail: 'Credentials cannot be checked now.', cause: error });
  }
}

/** Merchants by name, their names by key hash, and ended sessions. */
class Snapshot {
  readonly #merchants = new Map<string, MerchantCredentials>();
  readonly #merchantOfHash = new Map<string, string>();

  /** When each would have run out, milliseconds. */
  readonly #endedSessions = new Map<string, number>();
  /** The highest of all that it has. */
  changeNumber = 0n;

  put({ merchants, endedSessions }: News, nowMs: number): void {
    this.#putMerchants(merchants);
    if (endedSessions.length === 0) return;
    for (const [hash, expiresAtMs] of this.#endedSessions) if (expiresAtMs < nowMs) this.#endedSessions.delete(hash);
    for (const { sessionHash, expiresAt, changeNumber } of endedSessions) {
      if (changeNumber > this.changeNumber) this.changeNumber = changeNumber;
      if (expiresAt) {
        this.#endedSessions.set(Buffer.from(sessionHash).toString('base64'), timestampDate(expiresAt).getTime());
      }
    }
  }

  /** Takes what is newer than what it has: feed and refresh may tell of one merchant in either order. */
  #putMerchants(merchants: readonly MerchantCredentials[]): void {
    for (const merchant of merchants) {
      const known = this.#merchants.get(merchant.merchantId);
      // A core of an earlier version tells no numbers; then the feed alone tells, in order.
      const isOlder = known && merchant.changeNumber !== 0n && known.changeNumber > merchant.changeNumber;
      if (isOlder) continue;
      if (merchant.changeNumber > this.changeNumber) this.changeNumber = merchant.changeNumber;
      for (const hash of known?.apiKeyHashes ?? []) {
        this.#merchantOfHash.delete(Buffer.from(hash).toString('base64'));
      }
      this.#merchants.set(merchant.merchantId, merchant);
      for (const hash of merchant.apiKeyHashes) {
        this.#merchantOfHash.set(Buffer.from(hash).toString('base64'), merchant.merchantId);
      }
    }
  }

  merchant(merchantId: string): MerchantCredentials | undefined {
    return this.#merchants.get(merchantId);
  }

  /** A refresh may have told the snapshot before of a session that was ended after this one was read. */
  keepEnded(before: Snapshot): void {
    for (const [hash, expiresAtMs] of before.#endedSessions) this.#endedSessions.set(hash, expiresAtMs);
  }

  isSessionEnded(sessionHash: string): boolean {
    return this.#endedSessions.has(sessionHash);
  }

  merchantOfHash(hash: string): string | undefined {
    return this.#merchantOfHash.get(hash);
  }
}

function hashOf(key: string): string {
  return createHash('sha256').update(key, 'utf8').digest('base64');
}
