/**
 * The gateway's live copy of all credentials: API keys (as hashes) and signing secrets of every merchant, fed by core.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { timestampMs } from '@bufbuild/protobuf/wkt';
import { errorFields, type Log } from '../../platform/log.ts';
import type {
  MerchantCredentials,
  RestrictedApiKey,
  WatchCredentialsResponse,
} from '../../proto/gen/holdfast/v1/merchant_pb.js';
import type { RelaySenderCredentials } from '../../proto/gen/holdfast/v1/relay_pb.js';
import { Problem } from '../http/problem.ts';
import type { Core } from './client.ts';

export type Credentials = ReturnType<typeof watchCredentials>;

/** An API key, and what it may do. */
export interface LiveApiKey {
  readonly merchantId: string;
  /** Undefined = all; core knows whether it manages the webhook. */
  readonly scopes: ReadonlySet<string> | undefined;
  /** Milliseconds since the epoch; Infinity = it does not expire. */
  readonly expiresAtMs: number;
  /** Networks from which it may be used; none = from anywhere. */
  readonly allowedCidrs: readonly string[];
}

const UNRESTRICTED = { scopes: undefined, expiresAtMs: Number.POSITIVE_INFINITY, allowedCidrs: [] } as const;

function hashesOf(merchant: MerchantCredentials | undefined): Uint8Array[] {
  if (!merchant) return [];
  return [...merchant.apiKeyHashes, ...merchant.restrictedApiKeys.map(({ apiKeyHash }) => apiKeyHash)];
}

/** The operations that a contract may want signed. */
export type SignedOperation = 'CAPTURE' | 'OCT' | 'REFUND';

/** A core of 1.0.0 sends the flag alone. */
function isSigned(merchant: MerchantCredentials, operation: SignedOperation): boolean {
  const { requireSignedOperations, requireSignedCaptures } = merchant;
  return requireSignedOperations.includes(operation) || (operation === 'CAPTURE' && requireSignedCaptures);
}

/** Without news for this long a snapshot is worthless (docs/interfaces.md, "Credentials at the gateway"). */
const STALE_AFTER_MS = 30_000;
/** Core sends a heartbeat every 5 s; after two missing ones the feed is reconnected, even if its connection is open. */
const SILENT_AFTER_MS = 12_000;
const REFRESH_EVERY_MS = 50;
const REFRESH_TIMEOUT_MS = 1_000;
const RECONNECT_MS = { first: 100, most: 2_000 } as const;

/**
 * Follows core's feed until closed, and reconnects when it breaks. Lookups are in the newest snapshot from core, and
 * none of them waits.
 */
export function watchCredentials(core: Pick<Core, 'merchants'>, log: Log, now: () => number = Date.now) {
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
      await delay(waitMs * (0.5 + Math.random() / 2), undefined, { signal: closing.signal }).catch(() => undefined);
      waitMs = Math.min(waitMs * 2, RECONNECT_MS.most);
    }
  }

  /**
   * Reads one connection: its complete snapshot replaces the old one at once, then changes arrive merchant by merchant.
   */
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
    // A heartbeat comes at least every 5 s, so a stream ends as soon after its key as with one that is revoked.
    const isChange = hasNews || incoming !== snapshot || snapshot.hasExpired(now());
    heardAtMs = now();
    if (incoming !== snapshot) incoming.keepEnded(snapshot);
    snapshot = incoming;
    first.resolve();
    if (isChange) for (const listener of listeners) listener();
  }

  /**
   * Settles when the snapshot contains all that core had committed before the call. Called before a credential is
   * refused, because it may have been created a moment ago. Concurrent calls share one call to core per
   * REFRESH_EVERY_MS. Throws UNAVAILABLE when core does not answer.
   */
  const refresh = coalesceRuns(readNews, REFRESH_EVERY_MS);

  async function readNews(): Promise<void> {
    const asked = snapshot;
    const request = { afterChangeNumber: asked.changeNumber };
    const answer = core.merchants.listCredentialChanges(request, { timeoutMs: REFRESH_TIMEOUT_MS });
    const news = await answer.catch((cause: unknown) => {
      throw new Problem('UNAVAILABLE', { detail: 'Credentials cannot be checked now.', cause });
    });
    // The feed has begun anew meanwhile, and its snapshot may lack what an earlier refresh had put into this one.
    if (asked !== snapshot) return readNews();
    asked.put(news, now());
    if (news.merchants.length + news.endedSessions.length > 0) for (const listener of listeners) listener();
  }

  const following = follow();
  return {
    /** An API key by its hash (apiKeyHash()), if it is valid now. */
    apiKeyOf: (hash: string) => snapshot.apiKeyOf(hash, now()),
    /** The merchant of it. */
    merchantOfApiKey: (hash: string) => snapshot.apiKeyOf(hash, now())?.merchantId,
    /** A merchant's live signing secrets, older first; undefined for an unknown merchant. */
    secretsOf: (merchantId: string): readonly string[] | undefined =>
      snapshot.merchants.get(merchantId)?.signingSecrets,
    /** The names of these secrets, in the same order. */
    secretIdsOf: (merchantId: string): readonly string[] => snapshot.merchants.get(merchantId)?.signingSecretIds ?? [],
    /** What the relay demands of notifications under a merchant's own secrets; undefined for an unknown merchant. */
    relayVerificationOf: (merchantId: string) => snapshot.merchants.get(merchantId)?.relayVerification,
    /** A sender of the relay by its senderId, and whose it is. */
    senderOf: (senderId: string): LiveSender | undefined => snapshot.senders.get(senderId),
    /** The public key (Ed25519, PEM) that a merchant's operations must verify with; undefined when they need none. */
    signingKeyOf: (merchantId: string, operation: SignedOperation) => {
      const merchant = snapshot.merchants.get(merchantId);
      return merchant && isSigned(merchant, operation) ? merchant.capturePublicKey : undefined;
    },
    /** Returns whether a console session was ended by signing out, at any gateway; `sessionHash` is Base64. */
    isSessionEnded: (sessionHash: string) => snapshot.endedSessions.has(sessionHash),
    /** False when core has sent nothing for 30 s, or nothing yet: then no credential can be checked. */
    isFresh: () => now() - heardAtMs < STALE_AFTER_MS,
    /** Returns whether core has sent anything within the last two heartbeats. */
    isHeard: () => now() - heardAtMs < SILENT_AFTER_MS,
    refresh,
    /** Settles with the first snapshot. */
    ready: first.promise,
    /** Calls the listener after each change. Returns a function that removes it. */
    onChange: (listener: () => void) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    close: async () => {
      closing.abort();
      await following;
    },
  };
}

/**
 * Shares runs between concurrent callers. Each caller waits for a run that started after its call, so the run has seen
 * everything before it. However many callers there are, runs are sequential and start at least `everyMs` apart.
 */
function coalesceRuns(run: () => Promise<void>, everyMs: number): () => Promise<void> {
  let next: Promise<void> | undefined;
  let latest: Promise<unknown> = Promise.resolve();
  let beganAtMs = Number.NEGATIVE_INFINITY;

  async function begin(): Promise<void> {
    await latest;
    const restMs = beganAtMs + everyMs - performance.now();
    if (restMs > 0) await delay(restMs);
    next = undefined;
    beganAtMs = performance.now();
    const running = run();
    latest = Promise.allSettled([running]);
    await running;
  }

  return () => {
    next ??= begin();
    return next;
  };
}

type News = Pick<WatchCredentialsResponse, 'merchants' | 'endedSessions'>;

/** A sender of the relay, with its keys in clear. */
export interface LiveSender {
  readonly merchantId: string;
  readonly credentials: RelaySenderCredentials;
}

/** Merchants by name, their names by key hash, senders, and ended sessions. */
class Snapshot {
  readonly merchants = new Map<string, MerchantCredentials>();
  readonly #apiKeys = new Map<string, LiveApiKey>();
  /** When the next key expires, milliseconds. */
  #expiresNextMs = Number.POSITIVE_INFINITY;
  readonly senders = new Map<string, LiveSender>();
  /** When each would have expired, milliseconds. */
  readonly endedSessions = new Map<string, number>();
  changeNumber = 0n;

  put({ merchants, endedSessions }: News, nowMs: number): void {
    this.#putMerchants(merchants);
    if (endedSessions.length === 0) return;
    for (const [hash, expiresAtMs] of this.endedSessions) if (expiresAtMs < nowMs) this.endedSessions.delete(hash);
    for (const { sessionHash, expiresAt, changeNumber } of endedSessions) {
      if (changeNumber > this.changeNumber) this.changeNumber = changeNumber;
      if (expiresAt) this.endedSessions.set(base64(sessionHash), timestampMs(expiresAt));
    }
  }

  /** Skips versions older than the present one: feed and refresh may deliver a merchant in either order. */
  #putMerchants(merchants: readonly MerchantCredentials[]): void {
    for (const merchant of merchants) {
      const known = this.merchants.get(merchant.merchantId);
      if (known && known.changeNumber > merchant.changeNumber) continue;
      if (merchant.changeNumber > this.changeNumber) this.changeNumber = merchant.changeNumber;
      for (const hash of hashesOf(known)) this.#apiKeys.delete(base64(hash));
      for (const { senderId } of known?.relaySenders ?? []) this.senders.delete(senderId);
      const { merchantId, relaySenders } = merchant;
      for (const credentials of relaySenders) this.senders.set(credentials.senderId, { merchantId, credentials });
      this.merchants.set(merchant.merchantId, merchant);
      for (const hash of merchant.apiKeyHashes) this.#apiKeys.set(base64(hash), { merchantId, ...UNRESTRICTED });
      for (const key of merchant.restrictedApiKeys) this.#putRestricted(merchantId, key);
    }
  }

  #putRestricted(merchantId: string, { apiKeyHash, scopes, expiresAt, allowedCidrs }: RestrictedApiKey): void {
    const expiresAtMs = expiresAt ? timestampMs(expiresAt) : Number.POSITIVE_INFINITY;
    this.#apiKeys.set(base64(apiKeyHash), { merchantId, scopes: new Set(scopes), expiresAtMs, allowedCidrs });
    this.#expiresNextMs = Math.min(this.#expiresNextMs, expiresAtMs);
  }

  /** An API key that has not expired. */
  apiKeyOf(hash: string, nowMs: number): LiveApiKey | undefined {
    const key = this.#apiKeys.get(hash);
    return key && key.expiresAtMs > nowMs ? key : undefined;
  }

  /** Returns whether a key has expired since this was asked before. */
  hasExpired(nowMs: number): boolean {
    if (this.#expiresNextMs > nowMs) return false;
    const later = [...this.#apiKeys.values()].map(({ expiresAtMs }) => expiresAtMs).filter((atMs) => atMs > nowMs);
    this.#expiresNextMs = later.reduce((first, atMs) => Math.min(first, atMs), Number.POSITIVE_INFINITY);
    return true;
  }

  /**
   * Keeps sessions that a refresh has added to the snapshot before, and that this one was read too early to contain.
   */
  keepEnded(before: Snapshot): void {
    for (const [hash, expiresAtMs] of before.endedSessions) this.endedSessions.set(hash, expiresAtMs);
  }
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64');
}
