import { setTimeout as sleep } from 'node:timers/promises';
import { timestampDate, timestampFromDate } from '@bufbuild/protobuf/wkt';
import { errorFields } from '../../../../platform/log.ts';
import { EndedSessionSchema, MerchantCredentialsSchema } from '../../../../proto/gen/holdfast/v1/merchant_pb.js';
import { RelaySenderCredentialsSchema, RelaySenderSettingsSchema } from '../../../../proto/gen/holdfast/v1/relay_pb.js';
import { type LiveSender, noteApiKeyUses, readCredentials } from '../../storage/merchant/credential-rows.ts';
import { useNonce as useStored } from '../../storage/merchant/signature-nonce.ts';
import { readTimeline } from '../../storage/reconciling.ts';
import type { Core, Method } from '../core.ts';
import { present } from '../present.ts';
import { signedOperations } from './contract-columns.ts';

/** Returns what WatchCredentials would send next. It reads the database, so it includes every commit of every core. */
export const listCredentialChanges: Method<'listCredentialChanges'> = async (core, { afterChangeNumber }) => {
  const { merchants, endedSessions } = await changesAfter(core, afterChangeNumber);
  return { merchants, endedSessions, now: timestampFromDate(core.clock()) };
};

/**
 * Returns the credentials of callers that changed after a change number (0 = all), and the number to continue from. It
 * reads the database at each call, so that changes by other cores are included.
 */
async function changesAfter(core: Core, after: bigint) {
  const rows = await readCredentials(core.database.query, after);
  const merchants = rows.flatMap((row) => {
    if (row.merchantId === null) return [];
    const { merchantId } = row;
    const secrets = row.secrets.flatMap((secret) =>
      decrypted(core, merchantId, 'signing-secret', secret).map((text) => ({ id: secret.id, text })),
    );
    const signingSecrets = secrets.map(({ text }) => text);
    const signingSecretIds = secrets.map(({ id }) => id);
    const relaySenders = row.senders.map((sender) => senderCredentials(core, merchantId, sender));
    const requireSignedOperations = signedOperations(row);
    const restrictedApiKeys = row.restricted.map(({ hash, expiresAt, ...terms }) => ({
      ...terms,
      apiKeyHash: Buffer.from(hash, 'hex'),
      expiresAt: expiresAt === null ? undefined : timestampFromDate(new Date(expiresAt)),
    }));
    const edge = { signingSecrets, signingSecretIds, relaySenders, requireSignedOperations, restrictedApiKeys };
    return [present(MerchantCredentialsSchema, row, edge)];
  });
  const ended = rows.filter(({ merchantId }) => merchantId === null);
  const endedSessions = ended.map((row) => present(EndedSessionSchema, row));
  return { merchants, endedSessions, changeNumber: rows.at(-1)?.changeNumber ?? after };
}

/** A secret that cannot be decrypted, by a fault of the settings, is left out: it must not lock out other merchants. */
function decrypted(
  { cipher, log }: Core,
  merchantId: string,
  use: 'signing-secret' | 'relay-key',
  secret: { readonly id: string; readonly ciphertext: string },
): string[] {
  try {
    return [cipher.open(Buffer.from(secret.ciphertext, 'hex'), `${use}:${secret.id}`)];
  } catch (error) {
    log.error('secret_not_decrypted', { merchantId, ...errorFields(error) });
    return [];
  }
}

/** A sender with its keys in clear. */
function senderCredentials(core: Core, merchantId: string, sender: LiveSender) {
  const keys = sender.keys.flatMap(({ id, ciphertext, publicKey }) => {
    if (ciphertext === null) return publicKey === null ? [] : [{ id, key: publicKey }];
    return decrypted(core, merchantId, 'relay-key', { id, ciphertext }).map((key) => ({ id, key }));
  });
  return present(RelaySenderCredentialsSchema, sender, {
    senderId: sender.id,
    settings: present(RelaySenderSettingsSchema, sender),
    keyIds: keys.map(({ id }) => id),
    keys: keys.map(({ key }) => key),
  });
}

/** Interval between reads: a revoked key is rejected within 5 s, whichever core revoked it. */
const POLL_MS = 500;
const HEARTBEAT_MS = 4_000;
/** Merchants or sessions per message, so that messages stay below their size limit. */
const CHUNK = 500;

/**
 * Streams credentials to a gateway: first all, then changes, with heartbeats. Ends when the database may have gone back
 * in time, so that the gateway gets all of them again: a later change may have a number that the gateway has seen.
 */
export const watchCredentials: Method<'watchCredentials'> = async function* (core, _request, context) {
  const timeline = await readTimeline(core.database.query);
  let { merchants, endedSessions, changeNumber } = await changesAfter(core, 0n);
  for (const chunk of chunksOf(merchants)) yield { merchants: chunk };
  for (let from = 0; from < endedSessions.length; from += CHUNK) {
    yield { endedSessions: endedSessions.slice(from, from + CHUNK) };
  }
  yield { snapshotComplete: true };
  let heartbeatAt = performance.now() + HEARTBEAT_MS;
  while ((await waited(context.signal)) && (await readTimeline(core.database.query)) === timeline) {
    ({ merchants, endedSessions, changeNumber } = await changesAfter(core, changeNumber));
    if (merchants.length + endedSessions.length === 0 && performance.now() < heartbeatAt) continue;
    yield { merchants, endedSessions, snapshotComplete: true };
    heartbeatAt = performance.now() + HEARTBEAT_MS;
  }
};

/** Cuts a list of merchants into messages: at most CHUNK merchants and, beyond the first one's, SENDERS senders each. */
function chunksOf(merchants: Changes['merchants']): Changes['merchants'][] {
  const chunks: Changes['merchants'][] = [];
  let senders = 0;
  for (const merchant of merchants) {
    senders += merchant.relaySenders?.length ?? 0;
    const last = chunks.at(-1);
    if (last && last.length < CHUNK && senders <= SENDERS) last.push(merchant);
    else {
      chunks.push([merchant]);
      senders = merchant.relaySenders?.length ?? 0;
    }
  }
  return chunks;
}

type Changes = Awaited<ReturnType<typeof changesAfter>>;

/** Of at most 6 KiB each: names, headers, 50 types, two secrets. */
const SENDERS = 150;

/** Waits for the poll interval. Returns false when the gateway has disconnected. */
function waited(signal: AbortSignal): Promise<boolean> {
  return sleep(POLL_MS, true, { signal }).catch((error) => {
    if (signal.aborted) return false;
    throw error;
  });
}

/** Marks a nonce as used, once for all gateways (RFC 9421, section 7.2.2). */
export const useNonce: Method<'useNonce'> = async (core, { merchantId, nonce, expiresAt }) => {
  const until = expiresAt ? timestampDate(expiresAt) : core.clock();
  return { fresh: await useStored(core.database.query, merchantId, nonce, until) };
};

/** Keeps when API keys were used, as gateways report it. */
export const reportApiKeyUses: Method<'reportApiKeyUses'> = async (core, { uses }) => {
  const noted = uses.flatMap(({ apiKeyHash, usedAt }) =>
    usedAt ? [{ hash: Buffer.from(apiKeyHash).toString('hex'), at: timestampDate(usedAt) }] : [],
  );
  await noteApiKeyUses(core.database.query, noted);
  return {};
};
